"""The tensor panel: all elements of one tensor, as a table, a picture, a histogram or lines.

`tensor_panel.py` is the panel; `element_grid.py`, `picture_view.py` and `plot_views.py` show what
`gradstep.gui.model.view_choice` says. It is asked of the engine, as much as fits on the screen.
"""
