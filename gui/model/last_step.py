"""What the last executed step was about: the node and the phase in which something is new now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradstep.core.protocol.messages import StepInfo
from gradstep.gui.model.workspace import Workspace


class LastStep(NamedTuple):
    """The plan steps `first` to `stop` that belong together: those of one forward operation, of its
    gradient, or of the update of a variable; all are done. node: the operation or variable."""

    node: str
    phase: str
    first: int
    stop: int


def last_step(workspace: Workspace) -> LastStep | None:
    """What was executed right before the place where the debugger stands; None at the beginning of
    a run, or of an iteration of a loop."""
    stop, program = workspace.stop, workspace.program
    if stop is None or program is None:
        return None
    steps, done = program.steps, stop.step
    if stop.inside:
        place = stop.inside[-1]
        steps = next((x.steps for x in program.loops if x.loop == place.loop), [])
        done = place.step
    return _group(steps, done) if 0 < done <= len(steps) else None


def _group(steps: Sequence[StepInfo], done: int) -> LastStep:
    last, first = steps[done - 1], done - 1
    while first and (steps[first - 1].origin, steps[first - 1].phase) == (last.origin, last.phase):
        first -= 1
    return LastStep(last.origin or last.op, last.phase, first, done)
