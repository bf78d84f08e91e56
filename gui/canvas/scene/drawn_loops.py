"""Loops whose iterations are shown: what they are called, and where their values go round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradstep.core.autodiff.notation.step_notation import Notation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import LOOP, Loop, loop_of
from gradstep.core.graph.model import Graph, Operation

CHOOSER = 204  # pixels, width of what an iteration is chosen with
_TITLE = 72  # pixels that a title needs beside it at least


@dataclass(frozen=True, slots=True)
class DrawnLoop:
    """name: of its While; title: `while i < n`; rounds: the boxes, by number, from which values go
    round to others, where the next iteration begins with them."""

    name: str
    title: str
    rounds: tuple[tuple[int, int], ...]


def chooser_room() -> int:
    """Pixels that a frame has to be wide for its iteration to be chosen there."""
    return CHOOSER + _TITLE


def drawn_loops(graph: Graph, box_of: Mapping[str, int]) -> tuple[DrawnLoop, ...]:
    """Those in a graph whose loops are flattened, the outer ones first. box_of: operation -> the
    box that shows it."""
    loops = [(op, loop) for op in graph if LOOP in op.attrs and (loop := loop_of(op)) is not None]
    if not loops:
        return ()
    notation = Notation(graph, (), {}, {})
    return tuple(
        DrawnLoop(op.name, _title(notation, op), _rounds(loop, box_of)) for op, loop in loops
    )


def _title(notation: Notation, op: Operation) -> str:
    """`while i < n`; the loop's name where what it goes on by cannot be told."""
    try:
        condition = notation.condition(op)
    except GradstepError:  # an operation of the wrong form, which has its problem
        condition = ""
    return f"while {condition}" if condition else op.name.rpartition("/")[2]


def _rounds(loop: Loop, box_of: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    pairs = zip(loop.results, loop.variables, strict=True)
    ends = ((box_of.get(result.op), box_of.get(name)) for result, name in pairs)
    shown = ((a, b) for a, b in ends if a is not None and b is not None and a != b)
    return tuple(dict.fromkeys(shown))
