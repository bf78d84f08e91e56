"""What the user made: the forward graph with all that was asked of it, and every edit of both.

`Document` in `document.py` is the door; `document_edits.py`, `request_edits.py` and
`value_edits.py` have its edits. Knows no file.
"""
