"""The docked panels around the canvas; a folder each, or one module.

`panel_base.py` in `widgets` is what they share; gui/frame/docks.py says where they stand.
"""
