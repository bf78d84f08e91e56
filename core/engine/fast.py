"""The fast way to run a plan: reused memory, variables updated where they are, no history."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from core.engine.backend import Backend
from core.engine.calls import Call, Several, into_places, nothing, run_through
from core.engine.compact import Compact
from core.engine.evaluate import NO_FUNCTIONS, Functions, located
from core.engine.plan import Blocked, Plan, Step
from core.engine.record import Recording
from core.errors import GradstepError
from core.ops.ufunc import BLOCK


class Fast(Recording):
    """Runs `plan` like a Recording, but keeps nothing on the way: after a run only what is fetched
    can be read, and what the variables hold, which is in the arrays that `begin` was given."""

    layout: Compact

    def __init__(self, plan: Plan, backend: Backend, functions: Functions = NO_FUNCTIONS) -> None:
        super().__init__(plan, backend, functions, Compact(plan))
        self._bound_to: dict[str, Any] | None = None
        self._busy: list[Call] = []
        self._step_of: list[int] = []

    @property
    def starts(self) -> Mapping[str, Any]:
        """Counters of the plan -> what they start with."""
        return self._first

    def can_begin(self, variables: Mapping[str, Any]) -> bool:
        """Whether every variable of the plan has a value, of the shape that the plan reckons
        with."""
        versions = self.plan.versions
        for name, (first, *_) in versions.items():
            array, place = variables.get(name, self._first.get(name)), self.layout.places[first]
            if array is None or place is None or array.shape != place.shape:
                return False
        return True

    def begin(self, variables: Mapping[str, Any]) -> None:
        """Start a run on these arrays of the variables, which the run writes to. Every variable
        of the plan has to be there."""
        now = {name: variables[name] for name in self.plan.versions}
        for index in self.layout.by_reference:
            self._cells[index] = None
        bound = self._bound_to
        if bound is not None and all(now[name] is bound[name] for name in now):
            return
        self._bound_to = now
        self._empty = set()
        for index, name in self.layout.held.items():
            place = self.layout.places[index]
            assert place is not None
            same = now[name].shape == place.shape
            self._cells[index] = now[name] if same else now[name].reshape(place.shape)
        self._bind()

    def _blocks(self, run: Blocked) -> list[Call]:
        """The calls of a blocked run, block after block."""
        steps = self.plan.steps[run.start : run.stop]
        size = max(math.prod(self._cells[v].shape) for s in steps for v in s.reads or s.writes)
        return [
            into_places(
                self.backend,
                step,
                self.functions,
                [self._part(v, at, size) for v in step.reads],
                [self._part(v, at, size) for v in step.writes],
            )
            for at in range(0, size, BLOCK)
            for step in steps
        ]

    def _part(self, value: int, at: int, size: int) -> Any:
        """The block of a value from element `at`; a scalar as it is."""
        cell, count = self._cells[value], min(BLOCK, size - at)
        if value in self.layout.partial:
            return cell[:count]
        return cell.reshape(-1)[at : at + count] if cell.ndim else cell

    def run(self, start: int, stop: int) -> tuple[int, GradstepError | None]:
        """Execute the whole plan; `start` and `stop` are its ends."""
        done, error = run_through(self._busy)
        if error is not None:
            failed = self._step_of[done]
            return failed, located(error, self.plan.steps[failed].op)
        for last, first in self.layout.moved:
            self._cells[first][...] = self._cells[last]
        return len(self.plan.steps), None

    def _bind(self) -> None:
        """The calls that do something, and the step of each."""
        calls = [self._call(step) for step in self.plan.steps]
        for run in self.plan.blocked:
            calls[run.start : run.stop] = [
                Several(self._blocks(run)),
                *[nothing] * (run.stop - run.start - 1),
            ]
        flat = [(i, one) for i, call in enumerate(calls) for one in _parts(call)]
        self._step_of, self._busy = [i for i, _ in flat], [one for _, one in flat]

    def _call(self, step: Step) -> Call:
        idle = step.index in self.layout.idle or step.op.type == "NoOp"
        if idle and step.index not in self._failures:
            return nothing
        return super()._call(step)


def _parts(call: Call) -> Iterator[Call]:
    """What a call consists of: nothing, itself, or several."""
    if isinstance(call, Several):
        for part in call.calls:
            yield from _parts(part)
    elif call is not nothing:
        yield call
