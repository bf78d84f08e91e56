"""Where the values of a plan lie: each in a place of its own, or shared by live range.

`layout_choice.py` chooses between `record_layout.py`, which the debugger runs, and
`reuse_layout.py`, which fast runs use.
"""
