"""Optimizers, as operations appended to a differentiated graph.

`apply_updates` in `optimizers.py` is the door.
"""
