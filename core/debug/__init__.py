"""The debugger: a state machine over recorded runs, with no window.

`motion` stands and moves, `history` keeps what was, `breaks` says where to stop, `concurrency` has
threads and several sessions. `DebugSession` is the door of one session, `Sessions` of several.
"""
