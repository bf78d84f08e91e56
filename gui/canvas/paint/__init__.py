"""Painting the scene, at any scale, on any paint device; from the back to the front.

`paint_layers.py` has the layers in their order.
"""
