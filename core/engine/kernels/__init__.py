"""Other libraries' kernels for some operations, behind NumPy's, which are the reference."""
