"""Graphs as values that are equal where everything about them is, loops included."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.loop import LOOP, loop_of
from gradstep.core.graph.model import Graph


def comparable(graph: Graph) -> list[Any]:
    """The operations in order; of one that runs a loop, what the loop consists of instead."""
    found: list[Any] = []
    for op in graph:
        loop = loop_of(op)
        if loop is None:
            found.append(op)
        else:
            inside = comparable(loop.graph), loop.arguments, loop.cond, loop.results
            found.append((op.with_attrs(**{LOOP: len(loop.variables)}), inside))
    return found
