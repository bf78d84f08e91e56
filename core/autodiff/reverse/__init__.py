"""Reverse mode: a graph in, the same graph with its gradient operations out.

`differentiate(graph, request)` in `differentiate.py` is the door. `backward_slice.py` says which
operations are visited, `backward_pass.py` visits them, `op_vjp.py` calls one gradient rule, and
`contributions.py` sums the cotangents of a tensor.
"""
