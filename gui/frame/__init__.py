"""The window around the canvas: menus, toolbar, docks, strips, status, and its files.

`main_window.py` puts it together, `docks.py` says which panels there are and where.
"""
