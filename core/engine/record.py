"""The record layout of a plan: one run at a time, every value readable as of every step.

The steps are a flat list of bound calls without arguments. Running to a breakpoint is running a
slice of the list; there is no test per step, neither for breakpoints nor for failures: where a
failure came from is read off the list's iterator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.engine.backend import Backend
from core.engine.calls import Call, bound, failing, nothing, run_through
from core.engine.evaluate import NO_FUNCTIONS, Functions, located, run_op
from core.engine.layout import Layout, Place, arena_of
from core.engine.plan import Plan, Step
from core.engine.state import takes_empty, uninitialised
from core.errors import GradstepError
from core.graph.model import TensorRef


@dataclass(frozen=True, eq=False)
class Record:
    """A finished run: a copy of the arena, and the values kept by reference."""

    recording: Recording
    arena: Any
    others: Mapping[int, Any]

    def value(self, index: int) -> Any:
        """The array of value `index`; None for a variable that had no value."""
        if index in self.others:
            return self.others[index]
        place = self.recording.layout.places[index]
        return self.recording.value(index) if place is None else place.view(self.arena)

    @property
    def nbytes(self) -> int:
        others = sum(int(x.nbytes) for x in self.others.values() if x is not None)
        return int(self.arena.nbytes) + others


class Recording:
    """Memory and bound calls for running `plan` again and again on one backend.

    Raises GradstepError when there is not enough memory.
    """

    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions = NO_FUNCTIONS,
        layout: Layout | None = None,
    ) -> None:
        self.plan = plan
        self.backend = backend
        self.functions = functions
        self.layout = layout or Layout(plan)
        self._arena = arena_of(self.layout, backend)
        self._fixed = [True] * len(plan.values)
        for index in self.layout.by_reference:
            self._fixed[index] = False
        self._failures = dict(plan.failures)
        # One array for each place: NumPy takes in-place work for granted only on one and the same.
        views: dict[Place, Any] = {}
        self._cells: list[Any] = [None] * len(plan.values)
        for index, place in enumerate(self.layout.places):
            if place is not None and index not in self.layout.held:
                if place not in views:
                    views[place] = place.view(self._arena)
                self._cells[index] = views[place]
        self._make_constants()
        first = {name: variable.first for name, variable in plan.variables.items()}
        self._first = {name: backend.put(x) for name, x in first.items() if x is not None}
        self._empty: set[int] | None = None  # the versions without a value it is bound for
        self._calls: list[Call] = []

    @property
    def nbytes(self) -> int:
        """Bytes of the arena and of the values by reference."""
        others = (self._cells[i] for i in self.layout.by_reference)
        return int(self._arena.nbytes) + sum(int(x.nbytes) for x in others if x is not None)

    @property
    def lacks_values(self) -> bool:
        """Whether the run that was begun last had variables without a value."""
        return bool(self._empty)

    def feed(self, feeds: Mapping[TensorRef, np.ndarray]) -> None:
        """Take the values of the runs to come, for every fed tensor. Comes before the first run."""
        for index in self.layout.feeds:
            ref = self.plan.values[index].ref
            assert ref is not None
            array = feeds[ref]
            place = self._cells[index]
            if place is None:
                self._cells[index] = self.backend.put(array)
            else:
                place[...] = self.backend.put(array)

    def begin(self, variables: Mapping[str, Any]) -> None:
        """Start a run from these values (device arrays) of the variables; absent ones have none."""
        empty: set[int] = set()
        for name, versions in self.plan.versions.items():
            if not self._start(versions[0], variables.get(name, self._first.get(name))):
                empty.add(versions[0])
        for index in self.layout.by_reference:
            if self.plan.values[index].step >= 0:
                self._cells[index] = None
        if self._empty is None or self._empty != empty:
            self._empty = empty
            self._calls = [self._call(step) for step in self.plan.steps]

    def run(self, start: int, stop: int) -> tuple[int, GradstepError | None]:
        """Execute steps `start` to `stop`; how many of the plan's steps are done then, and what
        stopped it early."""
        done, error = run_through(self._calls[start:stop])
        if error is None:
            return stop, None
        return start + done, located(error, self.plan.steps[start + done].op)

    def value(self, index: int) -> Any:
        """The array of value `index` (meaningless before its step has run); None for a variable
        that has no value."""
        return self._cells[index]

    def variables(self, step: int | None = None) -> dict[str, Any]:
        """What each variable holds once `step` steps are done; device arrays, not copies."""
        found = {name: self.value(self.plan.newest(name, step)) for name in self.plan.versions}
        return {name: array for name, array in found.items() if array is not None}

    def record(self) -> Record:
        """A copy of this run that outlives the next."""
        others = {i: self._cells[i] for i in (*self.layout.by_reference, *(self._empty or ()))}
        return Record(self, self._arena.copy(), others)

    def _start(self, version: int, array: Any) -> bool:
        """Put a variable's value where its first version lies; whether it has one."""
        place = self.layout.places[version]
        if array is None:
            self._cells[version] = None
        elif place is None:
            self._cells[version] = self.backend.xp.array(array)
        elif array is not self._cells[version]:
            if self._cells[version] is None:
                self._cells[version] = place.view(self._arena)
            self._cells[version][...] = array
        return array is not None

    def _make_constants(self) -> None:
        for step in self.plan.steps:
            if not self.layout.constants.isdisjoint(step.writes):
                self._make_constant(step)

    def _make_constant(self, step: Step) -> None:
        try:
            results = run_op(self.backend, step.op, (), self.functions)
        except GradstepError as error:
            self._failures[step.index] = error
            return
        for index, array in zip(step.writes, results, strict=True):
            self._cells[index] = self._aligned(array)

    def _aligned(self, array: Any) -> Any:
        """`array` at a place as good as those in the arena; text as it is."""
        if array.dtype.hasobject:
            return array
        place = self.backend.empty(array.shape, array.dtype)
        place[...] = array
        return place

    def _call(self, step: Step) -> Call:
        if step.index in self._failures:
            return failing(self._failures[step.index])
        if not takes_empty(step.op):
            for index in step.reads:
                if index in (self._empty or ()):
                    name = self.plan.values[index].variable
                    return failing(uninitialised(step, name, self.plan.variables[name]))
        if not step.computes or not self.layout.constants.isdisjoint(step.writes):
            return nothing
        try:
            return bound(self.backend, step, self.functions, self._cells, self._fixed)
        except GradstepError as error:  # a missing attribute
            return failing(error.at(step.op.name))
