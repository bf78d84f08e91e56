"""Reverse mode: a graph in, the same graph with its gradient operations out.

Read `backward_pass.py` first: who is visited when, which cotangents are summed, where a stop or an
override acts, which rule is called, what goes on. `backward_slice.py` says who is visited at all.
The door is `differentiate(graph, request)`. Around the pass, which knows none of them, stand
`vjp_templates.py`, `vjp_reuse.py` and, for loops, `while_vjp.py`.
"""
