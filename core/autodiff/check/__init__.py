"""Gradients held against the numbers: finite differences, complex steps, float64.

`gradcheck` in gradcheck.py checks a whole request, op_gradcheck.py one operation.
"""
