"""Ops on matrices: `matmul.py`, `einsum.py`, `inverses.py`, `cholesky.py`, diagonals and bands."""
