"""What a step becomes: a call without arguments, on cells that hold its values.

`bound_calls.py` is the door; `op_evaluation.py` runs one operation's kernel, `call_loop.py` goes
through many calls in a row.
"""
