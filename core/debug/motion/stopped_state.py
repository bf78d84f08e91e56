"""Where a debug session stands, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from gradstep.core.debug.motion.exact_place import ExactPlace
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Phase


class Reason(StrEnum):
    """Why the session stands where it stands."""

    ENTRY = "entry"  # the start of a run
    STEP = "step"
    BREAKPOINT = "breakpoint"
    EXCEPTION = "exception"  # the next step failed
    BLOCKED = "blocked"  # the next step has to wait for others; it can be tried again
    PAUSE = "pause"
    GOTO = "goto"
    END = "end"  # of a run


@dataclass(frozen=True, slots=True)
class Stop:
    """A position, and all that a view needs to say about it.

    step:  number of the plan's steps already executed in run number `run`.
    runs:  runs begun so far.
    phase, node, op: of the next step: its phase, the forward operation it belongs to, the
           operation it executes; empty at the end of a run.
    error: what failed, when reason is "exception"; what it waits for, when that is "blocked".
    hit:   operation that met a breakpoint, when reason is "breakpoint".
    inside: the loops that it stands in, the innermost last; then `op` is in that one.
    legal: names of the commands that may be given now.
    batch: what the run is fed, in words; "" where it is nothing of its own.
    """

    reason: Reason
    run: int
    step: int
    runs: int
    phase: Phase | Literal[""] = ""
    node: str = ""
    op: str = ""
    error: GradstepError | None = None
    hit: str = ""
    inside: tuple[Place, ...] = ()
    legal: tuple[str, ...] = ()
    recorded_bytes: int = 0
    recorded_limit: int = 0
    batch: str = ""

    @property
    def place(self) -> ExactPlace:
        """Run and step; then, of each loop that it stands in, iteration and step."""
        return [(self.run, self.step), *((each.iteration, each.step) for each in self.inside)]
