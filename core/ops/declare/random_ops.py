"""Which operations draw random numbers, and which of them go by their own names."""

from __future__ import annotations

from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import find


def is_random(type: str) -> bool:
    """Whether operations of a type draw numbers of a stream that seeds choose."""
    definition = find(type)
    return definition is not None and {"seed", "seed2"} <= definition.attrs.keys()


def draws_by_name(op: Operation) -> bool:
    """Whether it would draw others if it were called otherwise: it was given no seed."""
    return is_random(op.type) and not (op.attrs.get("seed") or op.attrs.get("seed2"))
