"""The words of the expressions' language, for who completes what is typed.

Loads no NumPy. That these are the words which the language has, a test sees.
"""

from __future__ import annotations

TABLES = ("x", "grad", "update")  # that a tensor's name in brackets follows
NAMES = ("value", "grad", "run", "step", "iteration", "inf", "nan", "pi", "and", "or", "not")
FUNCTIONS = (
    "abs",
    "all",
    "any",
    "count",
    "dead",
    "exp",
    "isfinite",
    "isinf",
    "isnan",
    "isnone",
    "log",
    "max",
    "mean",
    "min",
    "norm",
    "previous",
    "rank",
    "ratio",
    "saturated",
    "shape",
    "size",
    "sqrt",
    "std",
    "sum",
    "written",
)
