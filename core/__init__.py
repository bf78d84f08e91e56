"""Gradstep without a window: graph, differentiation, engine, debugger, files and command line.

One folder a room, lower ones first, and imports go down only: `persistent`; `graph`; `ops`,
`protocol`; `autodiff`, `layers`, `layout`; `engine`; `debug`; `capture`, `document`, `lowering`,
`reference`, `train`; `io`; `data`; `program`; `checks`, `sweep`; `host`; `cli`, `notebook`.
`errors.py` has the one exception that users see.
"""
