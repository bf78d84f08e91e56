"""Reverse mode: which operations a gradient passes, and what each of them passes on.

`differentiate(graph, request)` in differentiate.py is the door; op_vjp.py calls one gradient rule,
contributions.py sums the cotangents of a tensor.
"""
