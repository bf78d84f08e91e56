"""The tensor panel: all elements of one tensor, as a table, a picture, a histogram or lines.

`tensor_panel.py` is the panel; `view_choice.py` says what is shown of a tensor, and how;
`element_grid.py`, `picture_view.py` and `plot_views.py` show it. What they show the engine is asked
for, as much as fits on the screen.
"""
