"""The outline: every operation by its role.

`outline_panel.py` is the panel, `outline_rows.py` what it lists.
"""
