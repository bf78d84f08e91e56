"""The flow of values: identity, no-op, Python functions."""
