"""From a graph and what is wanted of it to the ordered steps of one run.

compile_plan.py is the door: pruning, versions of variables, dead branches, bodies of loops; and
incremental.py for what an edit leaves as it was.
"""
