"""One kernel of a card's for a whole function of single elements.

`with_fused` in `cupy_namespace.py` is the door; `fused_kernels.py` makes kernels and keeps them,
`kernel_text.py` writes what they say while a function is called with an `Element` for each array.
"""
