"""Two documents of one network, held against each other by their values: where these part.

`network_alignment.py` is the door, `value_matching.py` finds what is the same on both sides,
`meeting_again.py` the end of what is other, and `port_rules.py` the rule that makes it.
"""
