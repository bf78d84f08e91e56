"""Why a gradient is None, where one could be cut, and the paths that it takes.

`missing_gradient.py` is the door: `explain_none` finds the operation at which the path ends, and
`Explanation` is how every answer of `gradstep why` is carried. `gradient_paths.py` follows wires,
those in loops too after `loop_inlining.py`.
"""
