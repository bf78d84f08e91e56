"""The sweep panel: a table of runs, parallel coordinates, curves.

`sweep_panel.py` puts them together; `plot_scale.py` is what both pictures measure by.
"""
