"""Gradients checked against numbers: finite differences, complex steps, float64.

`gradcheck.py` checks the whole request of a program, `op_gradcheck.py` one operation alone.
"""
