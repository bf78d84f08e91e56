"""The precision panel: what shorter number formats do to a result.

`precision_panel.py` is the panel, `share_table.py` its table.
"""
