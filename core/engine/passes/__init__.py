"""Passes: pure functions from one plan to a plan that computes the same with less work."""
