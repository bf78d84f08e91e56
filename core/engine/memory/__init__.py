"""Where the values of a plan lie: every one for itself to be looked at, or shared by live range.

layout_choice.py chooses between record_layout.py and reuse_layout.py.
"""
