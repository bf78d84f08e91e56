"""The inspector: everything about one node, one derived operation, or one wire.

`inspector_panel.py` is the panel; `node_facts.py`, `step_facts.py` and `wire_facts.py` fill it.
"""
