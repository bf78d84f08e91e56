"""Gradstep without a window: graph, differentiation, engine, debugger, files and command line.

One folder a room, lower ones first: `graph`, `ops`, `autodiff`, `engine`, `debug`, `document`,
`io`, `program`, `checks`, `host`, `cli`; imports go down only. `errors.py` has the one exception
that users see.
"""
