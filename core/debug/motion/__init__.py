"""Where a debug session stands, and moving it: steps, scopes, loops.

`DebugSession` in `debug_session.py` is the door; `move_table.py` has a record of each move,
`stepping.py` makes them, and `cursor.py` is the position that they move.
"""
