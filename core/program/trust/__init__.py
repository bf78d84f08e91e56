"""Which Python of documents may run: what was decided about it, and what makes it the same code.

`permission(document)` in `code_trust.py` is the door.
"""
