"""PyTorch as a device; the only package that imports it.

`torch_backend.py` is the door; `namespace.py` is what kernels are given, over the arrays of
`torch_array.py`. `promotion.py` and `index_parts.py` are NumPy's rules, and know no PyTorch.
"""
