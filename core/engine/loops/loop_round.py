"""A loop's way from one iteration's condition to the next one's, as one run of calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradstep.core.engine.calls.call_loop import Call, CallRun


class LoopRound:
    """The steps from number `split` on, the copies that carry values round, and the steps up to
    `split` of the next iteration. calls: of all steps, with the step of each."""

    def __init__(
        self, calls: Iterable[tuple[int, Call]], split: int, copies: Sequence[Call]
    ) -> None:
        self.calls = calls
        listed = [*calls]
        first = [(step, call) for step, call in listed if step < split]
        rest = [(step, call) for step, call in listed if step >= split]
        self._steps = [step for step, _ in rest], [step for step, _ in first]
        self._before = len(rest) + len(copies)  # calls until the next iteration begins
        self._all = CallRun([*(c for _, c in rest), *copies, *(c for _, c in first)]).all

    def run(self) -> tuple[bool, int, Exception | None]:
        """Whether the next iteration has begun; the step that failed in the one that is under way
        (-1: none), and why."""
        done, error = self._all()
        if error is None:
            return True, -1, None
        rest, first = self._steps
        began = done >= self._before
        return began, first[done - self._before] if began else rest[done], error
