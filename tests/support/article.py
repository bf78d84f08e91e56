"""The Python of a well-known article, which its graphs in gradient_facts only name.

They are the "article", which trains, and the "article_forward", whose gradients are to be derived.
"""

from __future__ import annotations

from pathlib import Path

FUNCTIONS = """\
def pyfunc_0(c, k, d):
    return c + k


def CustomAdd(op, grad):
    c, k, d = op.inputs
    e = c + k
    return (e + d) * grad, d * grad, e * grad
"""
FEEDS = ("--feed", "data=[1, 2]", "labels=[0, 1]")
LOSS = 0.66369414
BY_C, BY_K = [0.71147776, -2.0781674], [0.54500711, -1.8633854]


def functions(folder: Path, source: str = FUNCTIONS) -> Path:
    """The file for --code."""
    path = folder / "functions.py"
    path.write_text(source)
    return path
