"""The texts by which a GraphDef names tensors and what is waited for, as `x:1` and `^x` are."""

from __future__ import annotations


def node_of(text: str) -> str:
    """The name of the node that gives it, or that is waited for. In a function `x:y:1` is an output
    of `x`, too."""
    return text.removeprefix("^").partition(":")[0]
