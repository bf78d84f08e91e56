"""Where a debug session stands, and moving it: steps, scopes, loops.

`DebugSession` in `debug_session.py` is the door; `move_table.py` has a record of each move, and
`stepping.py` makes them.
"""
