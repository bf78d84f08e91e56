"""Other libraries' kernels for some operations, beside NumPy's, which are the reference.

`kernel_registry.py` lists them, `kernel_choice.py` chooses for a plan.
"""
