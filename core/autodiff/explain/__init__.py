"""Why a gradient is None, where one could be cut, and the paths that it takes.

`missing_gradient.py` is the door: `explain_none` finds the operation at which the path ends.
`why_answer.py` has the record that every answer of `gradstep why` comes in. `gradient_paths.py`
follows wires, those in loops too after `loop_inlining.py`.
"""
