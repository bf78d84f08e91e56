"""The frozen computation graph, and the pure functions that edit and compare it.

`Graph`, `Operation` and `TensorRef` in `model.py`; edits in `edits.py`, `diff` in `changes.py`.
"""
