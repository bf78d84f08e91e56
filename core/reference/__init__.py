"""The reference pages, written from the tables and the tree by `./dev docs`.

`ops_page.py` writes docs/ops.md, `block_page.py` docs/blocks.md, `move_page.py`
docs/moves.md, `module_page.py` docs/modules.md.
"""
