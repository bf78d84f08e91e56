"""The calls of a recording, for the one of the plan after an edit: those of the same steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress, count, repeat
from operator import is_, is_not
from typing import Any

from gradstep.core.engine.calls.call_loop import Call
from gradstep.core.engine.plan.execution_plan import Plan, ends_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.plan.touched_steps import Exchanged
from gradstep.core.persistent.edited_sequence import exchanged
from gradstep.core.persistent.joined_sequence import in_parts

Calls = tuple[Call, ...]


class TakenCalls:
    """steps: of the plan before; calls: of each, None where they cannot be taken over, and nothing
    at all where the recording never began. is_whole: whether there is none that cannot be."""

    def __init__(
        self,
        steps: Sequence[Step] = (),
        calls: Sequence[Calls | None] = (),
        is_whole: bool = False,
    ) -> None:
        fits = len(calls) == len(steps)
        self._steps, self._calls = (steps, calls) if fits else ((), ())
        self._is_whole = is_whole and fits

    def __len__(self) -> int:
        return len(self._calls) - self._calls.count(None)

    def without(self, is_other: Callable[[Step], bool]) -> TakenCalls:
        """The calls of the steps of which that does not hold."""
        pairs = zip(self._steps, self._calls, strict=True)
        return TakenCalls(self._steps, [None if is_other(s) else calls for s, calls in pairs])

    def lack(self, steps: frozenset[Step], plan: Plan) -> frozenset[Step]:
        """Which of these steps of a plan have no calls here."""
        if (known := self._exchanged(plan)) is not None:
            return steps & known.new
        return steps.difference(compress(self._steps, map(is_not, self._calls, repeat(None))))

    def of(
        self, plan: Plan, make: Callable[[Step], Calls]
    ) -> tuple[Sequence[Calls], Sequence[Calls]]:
        """The calls of each step of a plan, and those of them that there were not, which are made.
        In C but for these, and a matter of copying where it is known which steps are others, or all
        stay in line with the first or the last."""
        there = self._exchanged(plan)
        if there is not None:
            return self._exchange(there, plan, make)
        first, last = ends_of(plan, self._steps)
        old, new = (slice(first, len(each) - last) for each in (self._steps, plan.steps))
        known = dict(zip(self._steps[old], self._calls[old], strict=True))
        middle = map(known.get, plan.steps[new])
        calls: list[Any] = [*self._calls[:first], *middle, *self._calls[len(self._calls) - last :]]
        is_lacking = [*map(is_, calls, repeat(None))]
        lacking, made = (
            [*compress(count(), is_lacking)],
            [*map(make, compress(plan.steps, is_lacking))],
        )
        for place, each in zip(lacking, made, strict=True):
            calls[place] = each
        return in_parts(calls), made

    def _exchange(
        self, there: Exchanged, plan: Plan, make: Callable[[Step], Calls]
    ) -> tuple[Sequence[Calls], Sequence[Calls]]:
        """The same, where it is known which steps are others."""
        gone = sorted(there.places[step.op.name] for step in there.gone)
        new = sorted(plan.step_of[step.op.name] for step in there.new)
        made = [make(plan.steps[place]) for place in new]
        calls: Sequence[Any] = self._calls  # of every step, as all of these are here
        return exchanged(calls, gone, [*zip(new, made, strict=True)]), made

    def _exchanged(self, plan: Plan) -> Exchanged | None:
        """How the steps of a plan differ from these, if that is known and all of these are here."""
        known = plan.exchanged if self._is_whole else None
        return None if known is None or known.before is not self._steps else known
