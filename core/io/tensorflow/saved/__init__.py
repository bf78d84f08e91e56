"""SavedModels and MetaGraphs: a graph with what programs know of it besides, and its variables.

`saved_model.py` and `meta_graph_file.py` are the doors.
"""
