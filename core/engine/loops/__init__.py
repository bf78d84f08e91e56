"""Running a loop inside a plan, and what is kept of its iterations.

`LoopCall` in `loop_call.py` is the step, `LoopRun` in `loop_run.py` goes through the iterations,
`trace_retention.py` says what is kept of them.
"""
