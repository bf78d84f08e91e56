"""The gradients panel: native, overridden, numeric; and gradients that are None, NaN or zero.

`gradients_panel.py` is the panel, `gradient_check_table.py` its table, `bad_gradients.py` the list
below.
"""
