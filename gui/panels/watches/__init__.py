"""Expressions, what they are where the debugger stands, and how they went over the runs.

`WatchesPanel` in `watches_panel.py` is the panel, `watch_model.py` has its rows.
"""
