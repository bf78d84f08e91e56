"""Two documents of one network, held against each other by their values: where these part.

Names, operations and orders of axes may all be others, as two frameworks have them.
"""
