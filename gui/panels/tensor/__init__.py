"""The tensor panel: all elements of one tensor, read in pages.

`tensor_panel.py` is the panel, `tensor_model.py` its table.
"""
