"""Ops of control flow and of looking on: `switch_and_merge.py`, `while_op.py`, `stack_ops.py`.

`identity_ops.py` has StopGradient, `python_ops.py` PyFunc, `summary_ops.py` TensorBoard's
summaries.
"""
