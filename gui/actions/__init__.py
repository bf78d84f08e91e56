"""What menus, keys, buttons and the command palette offer: one table of actions, one of dialogs.

`action_table.py` has the rows, `ActionSet` in `action_set.py` makes them Qt's for a window.
"""
