"""Graphs written in Python: tensors with operators, variables, scopes, conds and loops.

`GraphBuilder` in `builder.py` is the door; `gradstep.core.ops.api` has TensorFlow's names for what
it makes.
"""
