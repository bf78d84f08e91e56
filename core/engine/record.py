"""The record layout of a plan: one run at a time, every value readable as of every step.

The steps are a flat list of bound calls without arguments. Running to a breakpoint is running a
slice of the list; there is no test per step, neither for breakpoints nor for failures: where a
failure came from is read off the list's iterator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.collector import collector_paused
from core.engine.arena import Arena
from core.engine.backend import Backend
from core.engine.calls import bound, failing, nothing, parts
from core.engine.evaluate import NO_FUNCTIONS, Functions, located, run_op
from core.engine.layout import Layout, Place
from core.engine.plan import Plan, Step
from core.engine.room import Room
from core.engine.running import Call, Quiet, StepCalls
from core.engine.state import VariableStore, takes_empty, uninitialised
from core.errors import GradstepError
from core.graph.model import TensorRef

Calls = tuple[Call, ...]


@dataclass(frozen=True, eq=False)
class Record:
    """A finished run: a copy of the arena, and the values kept by reference."""

    recording: Recording
    arena: Arena
    others: Mapping[int, Any]
    instead: Mapping[int, int]

    def value(self, index: int) -> Any:
        """The array of value `index`; None for a variable that had no value."""
        if index in self.others:
            return self.others[index]
        place = self.recording.layout.places[self.instead.get(index, index)]
        return self.recording.value(index) if place is None else self.arena.view(place)

    @property
    def nbytes(self) -> int:
        others = sum(int(x.nbytes) for x in self.others.values() if x is not None)
        return self.arena.nbytes + others


class Recording:
    """Memory and bound calls for running `plan` again and again on one backend.

    before: a recording of the plan that `plan` continues. What can be of its memory and its calls
    is taken over, and then it must not be run any more.
    Raises GradstepError when there is not enough memory.
    """

    @collector_paused()
    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions = NO_FUNCTIONS,
        layout: Layout | None = None,
        before: Recording | None = None,
    ) -> None:
        self.plan = plan
        self.backend = backend
        self.functions = functions
        continued = None if before is None else before._continued(plan, backend)
        self.layout = continued or layout or Layout(plan)
        self._failures = dict(plan.failures)
        self._arena, self._room = Arena(), Room(backend)
        self._cells: list[Any] = []
        self._fixed: list[bool] = []  # whether a value's cell is the same object in every run
        self._taken: Mapping[Step, Calls] = {}  # those of the recording that this one continues
        self._taken_empty: set[int] = set()
        self._passed_on = False
        if before is not None and continued is not None:
            self._take_over(before)
        self._arena.grow(self.layout.size, backend)
        if before is not None and continued is not None:
            before._passed_on = True
        self._lay_out()
        self._make_constants()
        first = {name: variable.first for name, variable in plan.variables.items()}
        self._first = {name: backend.put(x) for name, x in first.items() if x is not None}
        self._empty: set[int] | None = None  # the versions without a value it is bound for
        self._calls = StepCalls()
        self._turned = False
        self._aside: Any = None  # cells and calls for the other way round
        self._quiet = Quiet()

    @property
    def nbytes(self) -> int:
        """Bytes of the arena and of the values by reference."""
        others = (self._cells[i] for i in self.layout.by_reference)
        return self._arena.nbytes + sum(int(x.nbytes) for x in others if x is not None)

    @property
    def lacks_values(self) -> bool:
        """Whether the run that was begun last had variables without a value."""
        return bool(self._empty)

    @property
    def calls(self) -> Iterable[tuple[int, Call]]:
        """What a run consists of once it has begun: the step of each bound call, and the call."""
        return self._calls

    def feed(self, feeds: Mapping[TensorRef, np.ndarray]) -> None:
        """Take the values of the runs to come, for every fed tensor. Comes before the first run."""
        for index in self.plan.fed:
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
        if self._goes_on(variables):
            self._turn()
        empty: set[int] = set()
        for name, versions in self.plan.versions.items():
            if not self._start(versions[0], variables.get(name, self._first.get(name))):
                empty.add(versions[0])
        for index in self.layout.by_reference:
            if self.plan.made_by[index] >= 0:
                self._cells[index] = None
        if self._empty is None or self._empty != empty:
            self._empty = empty
            self._bind()
        else:  # it is run again, and so will be worth it
            self._calls.pack()

    def run(self, start: int, stop: int) -> tuple[int, GradstepError | None]:
        """Execute steps `start` to `stop`; how many of the plan's steps are done then, and what
        stopped it early."""
        done, error = self._calls.run(self._quiet, start, stop)
        return done, None if error is None else located(error, self.plan.steps[done].op)

    def value(self, index: int) -> Any:
        """The array of value `index` (meaningless before its step has run); None for a variable
        that has no value."""
        return self._cells[index]

    def variables(self, step: int | None = None) -> dict[str, Any]:
        """What each variable holds once `step` steps are done; device arrays, not copies."""
        found = {name: self.value(self.plan.newest(name, step)) for name in self.plan.versions}
        return {name: array for name, array in found.items() if array is not None}

    def keep(self, store: VariableStore, done: int) -> None:
        """Put in `store` what the run wrote to the variables in its first `done` steps."""
        plan = self.plan
        for name, array in self.variables(done).items():
            if plan.newest(name, done) != plan.versions[name][0]:
                store.set(name, array)

    def record(self, into: Arena | None = None) -> Record:
        """A copy of this run that outlives the next; in the memory `into`, if that fits."""
        others = {i: self._cells[i] for i in (*self.layout.by_reference, *(self._empty or ()))}
        instead = self.layout.turns if self._turned else {}
        return Record(self, self._arena.copy(into), others, instead)

    def _goes_on(self, variables: Mapping[str, Any]) -> bool:
        """Whether all variables start with what the last run left, where it left it."""
        ends = {n: v[-1] for n, v in self.plan.versions.items() if v[-1] in self.layout.turns}
        return bool(ends) and all(variables.get(n) is self._cells[v] for n, v in ends.items())

    def _turn(self) -> None:
        """Take each variable's last version for the first, and write the next last one over what
        was the first: so nothing is copied from run to run. There are calls for either way."""
        if self._aside is None:
            cells = [*self._cells]
            for index, other in self.layout.turns.items():
                cells[index] = self._cells[other]
                if cells[index] is None:  # the variable had no value at first
                    place = self.layout.places[other]
                    assert place is not None  # it could not change places
                    cells[index] = self._arena.view(place)
            self._aside = cells, StepCalls(), None
        now = self._cells, self._calls, self._empty
        self._cells, self._calls, self._empty = self._aside
        self._aside, self._turned = now, not self._turned

    def _start(self, version: int, array: Any) -> bool:
        """Put a variable's value where its first version lies; whether it has one."""
        place = self.layout.places[version]
        if array is None:
            self._cells[version] = None
        elif place is None:
            self._cells[version] = self.backend.xp.array(array)
        elif array is not self._cells[version]:
            if self._cells[version] is None:
                self._cells[version] = self._arena.view(place)
            self._cells[version][...] = array
        return array is not None

    def _continued(self, plan: Plan, backend: Backend) -> Layout | None:
        """The layout of `plan` in this recording's memory, if it can go on there."""
        same = self.backend is backend or self.backend == backend
        if self._passed_on or not same or plan.kernels or self.plan.kernels:
            return None
        return self.layout.continued(plan)

    def _take_over(self, before: Recording) -> None:
        if before._turned:
            before._turn()
        self._arena, self._room = before._arena, before._room
        self._cells, self._fixed = before._cells, before._fixed
        steps = before.plan.steps
        taken = dict(zip(steps, before._calls.by_step, strict=False))  # none, if it never began
        bad = before._failures.keys() - before.plan.failures.keys()  # constants
        if bad:
            taken = {s: calls for s, calls in taken.items() if s.op.name not in bad}
        if before.functions != self.functions:
            taken = {s: calls for s, calls in taken.items() if not s.calls_python}
        self._taken, self._taken_empty = taken, before._empty or set()

    def _lay_out(self) -> None:
        """Give every value that has none yet its cell."""
        first, values = len(self._cells), len(self.plan.values)
        self._fixed += [True] * (values - first)
        for index in self.layout.by_reference:
            self._fixed[index] = False
        # One array for each place: NumPy takes in-place work for granted only on one and the same.
        views: dict[Place, Any] = {}
        self._cells += [None] * (values - first)
        for index, place in enumerate(self.layout.places[first:], first):
            if place is not None and index not in self.layout.held:
                if place not in views:
                    views[place] = self._arena.view(place)
                self._cells[index] = views[place]

    def _make_constants(self) -> None:
        for step in self.layout.constant_steps:
            if step not in self._taken:
                self._make_constant(step)

    @collector_paused()
    def _bind(self) -> None:
        """The calls, in order: those that are taken over as they are, but where other variables
        have no value."""
        taken, steps = self._taken, self.plan.steps
        other = self._taken_empty ^ (self._empty or set())
        if other:
            taken = {s: calls for s, calls in taken.items() if other.isdisjoint(s.reads)}
        calls = [
            tuple(parts(self._call(step))) if (calls := taken.get(step)) is None else calls
            for step in steps
        ]
        self._taken = {}
        self._calls = StepCalls(calls)

    def _make_constant(self, step: Step) -> None:
        try:
            results = run_op(self.backend, step.op, (), self.functions)
        except GradstepError as error:
            self._failures[step.op.name] = error
            return
        for index, array in zip(step.writes, results, strict=True):
            self._cells[index] = self._aligned(array)

    def _aligned(self, array: Any) -> Any:
        """`array` at a place as good as those in the arena, that nobody can write to; text as it
        is."""
        if array.dtype.hasobject:
            return array
        place = self.backend.empty(array.shape, array.dtype)
        place[...] = array
        if self.backend.xp is np:
            place.setflags(write=False)
        return place

    def _call(self, step: Step) -> Call:
        if step.op.name in self._failures:
            return failing(self._failures[step.op.name])
        if not takes_empty(step.op):
            for index in step.reads:
                if index in (self._empty or ()):
                    name = self.plan.values[index].variable
                    return failing(uninitialised(step, name, self.plan.variables[name]))
        idle = step.op.type == "NoOp" or step in self.layout.idle
        if idle or not step.computes or not self.layout.constants.isdisjoint(step.writes):
            return nothing
        other = self.plan.kernels.get(step.op.name)
        try:
            if other is not None:
                return other.call(step, self._cells, self._fixed)
            return bound(self.backend, step, self.functions, self._cells, self._fixed, self._room)
        except Exception as error:  # a missing attribute, axes that are no integers
            return failing(located(error, step.op))
