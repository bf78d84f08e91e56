"""The node canvas: `GraphView` in `view.py` is the door.

`scene` says what is where, `paint` draws it, `interact` is what mouse and keys do.
"""
