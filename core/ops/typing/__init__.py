"""Static types of every tensor of a graph, and what keeps a graph from running.

`infer(graph)` in `inference.py` is the door; the rest says why something does not fit.
"""
