"""A run amid its loops: where one of them stands, and inside it perhaps another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.loops.loop_run import LoopRun

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording

Places = Sequence[tuple[int, int]]  # iteration and step, from the outermost loop in


def go_back_into(recording: Recording, step: int, places: Places) -> None:
    """Let the loop that is step number `step` stand there, by what is kept of its iterations, and
    what is before that stays done. Raises GradstepError where it is not kept any more."""
    for number, at in places:
        run = recording.loop_call(step).open_at(number, at, recording.loop_trace(step))
        recording.redo(step)
        recording, step = run.recording, at


def go_on_into(recording: Recording, step: int, places: Places) -> bool:
    """Run the loop that is step number `step`, from its beginning, to that place; whether it comes
    there. Raises GradstepError where a step fails on the way."""
    for number, at in places:
        if step not in recording.plan.loops:
            return False
        run = recording.loop(step)
        if not _come_to(run, number, at):
            return False
        recording, step = run.recording, at
    return True


def _come_to(run: LoopRun, number: int, step: int) -> bool:
    while run.number < number and not run.ended:
        check_cancelled()
        _require(run.reach(run.length))
        if not run.ended:
            _require(run.advance())
    if run.number == number:
        _require(run.reach(min(step, run.length)))
    return (run.number, run.step) == (number, step)


def _require(error: Any) -> None:
    if error is not None:
        raise error
