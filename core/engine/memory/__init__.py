"""Where the values of a plan lie: each in a place of its own, or shared by live range.

`record_layout.py` is what the debugger runs, `reuse_layout.py` what fast runs use.
"""
