"""The gradient of a loop: another loop, which goes through the iterations backward.

while_vjp.py is the door; loop_residuals.py says what it reads of the iterations that have run.
"""
