"""One kernel for a whole function of single elements: its text, and CuPy with a place for it."""
