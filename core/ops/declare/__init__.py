"""The declaration of an op type: its record, the table, and the rules that families share.

`op(...)` in `table.py` declares, `lookup(type)` finds; `definition.py` says what a record holds.
"""
