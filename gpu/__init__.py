"""GPU and emulated devices; the only package that imports CuPy."""
