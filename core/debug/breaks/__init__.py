"""Where a run stops: breakpoints, their conditions, and how often each was hit.

`Breakpoint` in `breakpoints.py` is what a user sets, `compiled_breakpoints.py` what a plan is run
with.
"""
