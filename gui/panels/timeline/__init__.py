"""The timeline: runs as bars, the steps of a run as a table.

`timeline_panel.py` is the panel, `run_bars.py` the bars, `timeline_model.py` the table.
"""
