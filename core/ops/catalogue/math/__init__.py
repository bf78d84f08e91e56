"""Arithmetic, functions of numbers, reductions."""
