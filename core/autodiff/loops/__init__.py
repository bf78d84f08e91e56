"""The VJP of a loop: another loop, which runs the iterations backward.

`while_vjp.py` is the door; `loop_residuals.py` has what it reads of the iterations that have run.
"""
