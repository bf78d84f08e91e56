"""Passes: pure functions from a plan to a plan that computes the same with less work.

`pass_pipeline.py` has them in their order; `optimize` applies them.
"""
