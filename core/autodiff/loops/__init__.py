"""What the VJP of a loop, a rule of reverse mode, has to know of loops and conds.

`loop_residuals.py` is what it reads of the iterations that have run, `cond_liveness.py` in which
branches of an iteration that is there, `loop_dependencies.py` which tensors lead to which.
"""
