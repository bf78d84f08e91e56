"""Why a gradient is None, and where one could be cut.

`missing_gradient.py` is the door: `explain_none` finds the operation at which the path ends, and
`Explanation` is how every answer of `gradstep why` is carried.
"""
