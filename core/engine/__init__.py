"""From a graph to numbers: plans, the memory that they run in, and running them.

`plan` compiles, `memory` lays out, `run` runs; `passes` rewrite fast plans, `loops` run bodies,
`kernels` are alternatives to NumPy's. `backend.py` is the protocol of a device, `numpy_backend.py`
the reference.
"""
