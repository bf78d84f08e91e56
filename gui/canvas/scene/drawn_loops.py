"""Loops whose iterations are shown: where their values go round, and what their frames say."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.graph.loop import LOOP, Loop, loop_of
from gradstep.core.graph.model import Graph
from gradstep.core.protocol.messages import ProgramInfo

# The boxes, by number, from which values go round to others, where the next iteration begins.
Rounds = tuple[tuple[int, int], ...]


def drawn_loops(graph: Graph, box_of: Mapping[str, int]) -> dict[str, Rounds]:
    """By its While, how the values of each loop go round, in a graph whose loops are flattened.
    box_of: operation -> the box that shows it."""
    loops = ((name, loop_of(graph[name])) for name in sorted(graph.marked[LOOP]))
    return {name: _rounds(loop, box_of) for name, loop in loops if loop is not None}


def loop_titles(program: ProgramInfo | None) -> dict[str, str]:
    """Of each loop's frame, by its While: `while i < n`. Of those of which the engine has told."""
    loops = () if program is None else program.loops
    return {info.loop: f"while {info.condition}" for info in loops if info.condition}


def _rounds(loop: Loop, box_of: Mapping[str, int]) -> Rounds:
    pairs = zip(loop.results, loop.variables, strict=True)
    ends = ((box_of.get(result.op), box_of.get(name)) for result, name in pairs)
    shown = ((a, b) for a, b in ends if a is not None and b is not None and a != b)
    return tuple(dict.fromkeys(shown))
