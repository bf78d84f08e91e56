"""The device panel: the same graph on several devices, node by node.

`device_diff_panel.py` is the panel, `device_diff_model.py` its table.
"""
