"""Several threads on one session's variables, and several sessions side by side.

`scheduler.py` has the threads of a session, `session_registry.py` the sessions.
"""
