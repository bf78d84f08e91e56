"""Training: how many steps, how far it is, and curves on which any step can be clicked.

`training_panel.py` is the panel: `training_head.py` over it, `curve_list.py` beside it, and
`curve_plot.py`, which is only made once there is something to draw; `step_card.py` stands beside
it, about the step that was clicked.
"""
