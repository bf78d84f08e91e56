"""The outline: every operation by its role."""
