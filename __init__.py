"""Gradstep: a desktop debugger for backpropagation."""
