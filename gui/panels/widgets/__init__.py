"""What panels are made of: tables, trees of rows, cards, labels, heat tiles.

`panel_base.py` is every panel's base, `flat_table.py` every table's.
"""
