"""Queries over all runs: an expression, at which steps it holds, and the way to each.

`QueriesPanel` in `queries_panel.py` is the panel, `answer_model.py` has its rows.
"""
