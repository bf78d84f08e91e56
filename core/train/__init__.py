"""Optimizers, as operations appended to a differentiated graph."""
