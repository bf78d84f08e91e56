"""The gradients of a document checked: native, overridden and numeric, and node by node.

`gradient_table` in `gradient_checks.py` is the door, `node_checks.py` checks single operations.
"""
