"""Where a debug session stands, and moving it: steps, scopes, loops.

`DebugSession` in `debug_session.py` is the door; `legal_commands.py` is the table of what may be
done.
"""
