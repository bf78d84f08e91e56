"""Composite blocks: what is drawn in one go, as ordinary operations inside a name scope.

`block` in `block_table.py` declares one, `expand` in `block_expansion.py` draws it; the families,
such as `attention.py`, have one function a block.
"""
