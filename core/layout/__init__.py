"""Where nodes stand: automatic layout of a graph, without a window."""
