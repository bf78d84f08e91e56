"""Where nodes stand: automatic layout of boxes and arrows, without a window.

`layout_engines.py` is the door, `sugiyama.py` our own engine, `layout_process.py` runs it with a
time limit.
"""
