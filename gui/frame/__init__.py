"""The window around the canvas: menus, toolbar, docks, strips, status; the table of actions.

`main_window.py` puts it together, `action_table.py` says what there is to do.
"""
