"""Operations of other frameworks in ours: a graph as it was traced, lowered node by node.

`lower` in `lowered_graph.py` is the door, `foreign_graph.py` what it takes; `lowering_table.py` has
the record of one foreign operation, and a folder for each framework's declares them.
"""
