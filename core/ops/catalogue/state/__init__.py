"""Variables, random numbers, and the ops that train.

`ref_variables.py`, `resource_variables.py`, `optimizer_ops.py`, `random_tensors.py`.
"""
