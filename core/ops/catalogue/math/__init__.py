"""Elementwise functions and reductions: `arithmetic.py`, `exponential.py`, `sum_and_mean.py`…"""
