"""What is asked of the recorded runs, and an answer: where an expression holds, and of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradstep.core.debug.breaks.hit_counts import Path
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.graph.model import TensorRef
from gradstep.core.position_text import position_text


class Which(StrEnum):
    """Which of the steps at which an expression holds. Here is where the debugger stands."""

    FIRST = "first"  # of all
    NEXT = "next"  # the first one behind here
    PREVIOUS = "previous"  # the last one before here
    LAST = "last"  # the same, or here
    EVERY = "every"


@dataclass(frozen=True, slots=True)
class Query:
    """text: an expression. A step at which it holds is one that gave something it names a value,
    and after which it is true; of bare `value` and `grad`, any step, and they mean what it gave.
    What is there when a run or an iteration begins counts where it was not there before.

    most: of how many steps it is said where they are; the others are counted."""

    text: str
    which: Which = Which.FIRST
    most: int = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A step at which it holds.

    path: the position right behind it; inside: the loops around, the outermost first. node: the
    operation that was done, or is given. tensor: what the expression is about, None where that is
    none by itself. element: the first one for which it holds; None where it is about no elements.
    value: what was compared, there."""

    path: Path
    inside: tuple[Place, ...]
    node: str
    tensor: TensorRef | None
    element: tuple[int, ...] | None
    value: Any

    @property
    def position(self) -> str:
        """As `run_to` takes it."""
        return position_text([*zip(self.path[::2], self.path[1::2], strict=True)])


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """found: in the order of time. count: of all there are. runs: that were looked at, of which
    `repeated` had to be made again. lost: steps in loops of which too little is kept to tell."""

    found: Sequence[Answer]
    count: int
    runs: int
    repeated: int = 0
    lost: int = 0
