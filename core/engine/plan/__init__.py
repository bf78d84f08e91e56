"""From a graph and the fetches to the ordered steps of one run.

`compile_plan.py` is the door: `pruning.py`, versions of variables in `step_builder.py`,
`dead_branches.py`, bodies of loops; and `incremental.py` for what an edit leaves as it was.
"""
