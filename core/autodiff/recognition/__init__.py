"""Gradients that a graph holds already: those of the program whose graph was read."""
