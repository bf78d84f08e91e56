"""The fast way to run a plan: reused memory, variables updated where they are, no history."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.bound_calls import Several, into_places, parts
from gradstep.core.engine.calls.call_loop import Call, CallRun
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS, Functions
from gradstep.core.engine.calls.scratch_memory import Scratch
from gradstep.core.engine.calls.split_calls import WORTH_SPLITTING, split_call
from gradstep.core.engine.calls.striped_blocks import Stripes
from gradstep.core.engine.memory.reuse_layout import ReuseLayout
from gradstep.core.engine.plan.execution_plan import Blocked, Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.ops.declare.ufunc import BLOCK
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.thread_pool import thread_count


class FastRun(Recording):
    """Runs `plan` like a Recording, but keeps nothing on the way: after a run only what is fetched
    can be read, and what the variables hold, which is in the arrays that `begin` was given."""

    layout: ReuseLayout
    keeps_steps = False

    @collector_paused()
    def __init__(self, plan: Plan, backend: Backend, functions: Functions = NO_FUNCTIONS) -> None:
        super().__init__(plan, backend, functions, ReuseLayout(plan, may_part=backend.xp is np))
        self._bound_to: VariableStore | None = None
        self._bound_version = 0
        self._states_first: list[tuple[str, int]] = []  # what is no array, and its first version
        self._run_calls = CallRun(())
        self._step_of: list[int] = []
        kept = ((n, v) for n, v in plan.variables.items() if not v.anew)
        self._states = [name for name, v in kept if isinstance(v.first, OpaqueState)]

    @property
    def calls(self) -> Iterable[tuple[int, Call]]:
        return zip(self._step_of, self._run_calls.calls, strict=True)

    @property
    def calls_as_made(self) -> Iterable[tuple[int, Call]]:
        return zip(self._step_of, self._run_calls.each(), strict=True)

    def settle(self, store: VariableStore) -> None:
        """Make `store` such as runs want it: with the plan's counters, and with variables that are
        updated together side by side."""
        lasting = self.plan.variables.items()
        store.complete({n: self._first[n] for n, v in lasting if n in self._first and not v.anew})
        for names in self.layout.families:
            store.lay_side_by_side(names)

    def can_begin(self, variables: Mapping[str, Any]) -> bool:
        """Whether every variable of the plan has a value, of the shape that the plan reckons
        with."""
        if self._is_bound_to(variables):
            return True
        versions = self.plan.versions
        for name, (first, *_) in versions.items():
            array, place = variables.get(name, self._first.get(name)), self.layout.places[first]
            if isinstance(array, OpaqueState):
                continue
            if array is None or place is None or array.shape != place.shape:
                return False
        return True

    def begin(self, variables: Mapping[str, Any]) -> None:
        """Start a run on these arrays of the variables, which the run writes to. Every variable
        of the plan has to be there."""
        for index in self.layout.by_reference:
            self._cells[index] = None
        if not self._is_bound_to(variables):
            self._bind_to(variables)
        for name, first in self._states_first:
            self._cells[first] = self._starting(name, variables)

    def _is_bound_to(self, variables: Mapping[str, Any]) -> bool:
        """Whether the calls work on the arrays that are there."""
        store = self._bound_to
        return store is not None and store is variables and store.version == self._bound_version

    def _bind_to(self, variables: Mapping[str, Any]) -> None:
        if isinstance(variables, VariableStore):
            variables.own(self.plan.versions)
            self._bound_to, self._bound_version = variables, variables.version
        now = {name: self._starting(name, variables) for name in self.plan.versions}
        self._states_first = [
            (name, self.plan.versions[name][0])
            for name, value in now.items()
            if isinstance(value, OpaqueState)
        ]
        for name, first in self._states_first:
            self._cells[first] = now[name]
        self._empty = set()
        for index, name in self.layout.held.items():
            place = self.layout.places[index]
            assert place is not None
            same = now[name].shape == place.shape
            self._cells[index] = now[name] if same else now[name].reshape(place.shape)
        self._bind()

    def _starting(self, name: str, variables: Mapping[str, Any]) -> Any:
        """What a variable holds as a run begins."""
        return self._first[name] if self.plan.variables[name].anew else variables[name]

    def _blocks(self, run: Blocked) -> Iterator[tuple[int, Call]]:
        """The calls of a blocked run, block after block; of a large one as many at a time as there
        are threads. Which thread has which block changes no bit: each element is by itself."""
        steps = [*enumerate(self.plan.steps)][run.start : run.stop]
        size = max(math.prod(self._cells[v].shape) for _, s in steps for v in s.reads or s.writes)
        starts = range(0, size, BLOCK)
        count = min(thread_count(), len(starts)) if size * len(steps) >= WORTH_SPLITTING else 1
        if count == 1:
            yield from self._block_calls(steps, starts, size, {}, self._room)
            return
        stripes = [[*self._block_calls(steps, starts[::count], size, {}, self._room)]]
        for first in range(1, count):
            own = self._another_block(steps)
            room = Scratch(self.backend)
            stripes.append([*self._block_calls(steps, starts[first::count], size, own, room)])
        yield run.start, Stripes(stripes)

    def _another_block(self, steps: Sequence[tuple[int, Step]]) -> dict[int, Any]:
        """Memory for one more block of those values that are never made in full: where two of them
        lie in the same, so do they there, or a block of each would not fit in a cache."""
        values = {v for _, step in steps for v in step.writes if v in self.layout.partial}
        cells = {v: self._cells[v] for v in values}
        begins = {v: cell.ctypes.data for v, cell in cells.items()}
        ends = {v: begins[v] + cell.nbytes for v, cell in cells.items()}
        own: dict[int, Any] = {}
        for together in _overlapping(begins, ends):
            first = begins[together[0]]
            size = max(ends[v] for v in together) - first
            memory = self.backend.empty((size,), np.dtype(np.uint8))
            for v in together:
                own[v] = memory[begins[v] - first : ends[v] - first].view(cells[v].dtype)
        return own

    def _block_calls(
        self,
        steps: Sequence[tuple[int, Step]],
        starts: Iterable[int],
        size: int,
        own: Mapping[int, Any],
        room: Scratch,
    ) -> Iterator[tuple[int, Call]]:
        for at in starts:
            for index, step in steps:
                inputs = [self._part(v, at, size, own) for v in step.reads]
                places = [self._part(v, at, size, own) for v in step.writes]
                call = into_places(self.backend, step, self.functions, inputs, places, room)
                yield from ((index, part) for part in parts(call))

    def _part(self, value: int, at: int, size: int, own: Mapping[int, Any]) -> Any:
        """The block of a value from element `at`, in memory of its own where it has some; a scalar
        as it is."""
        cell, count = own.get(value, self._cells[value]), min(BLOCK, size - at)
        if value in self.layout.partial:
            return cell[:count]
        return cell.reshape(-1)[at : at + count] if cell.ndim else cell

    def run(self, start: int, stop: int) -> tuple[int, GradstepError | None]:
        """Execute the whole plan; `start` and `stop` are its ends."""
        if self.stopwatch is not None:
            return super().run(start, stop)
        if self.copies is not None:
            self.copies.forget()
        done, error = self._run_calls.all()
        if error is not None:
            call, failed = self._run_calls.calls[done], self._step_of[done]
            if isinstance(call, Stripes):
                failed = call.failed
            return failed, self.located(error, failed)
        return len(self.plan.steps), None

    def keep(self, store: VariableStore, done: int) -> None:
        """Put in `store` what is no array. To the arrays that it was begun with the run wrote
        itself, unless it failed: then it did not come to put there what it had made elsewhere."""
        for name in self._states:
            store.set(name, self._cells[self.plan.newest(name, done)])
        if done < len(self.plan.steps):
            for name, (first, *_) in self.plan.versions.items():
                newest = self.plan.newest(name, done)
                held = newest in self.layout.held or isinstance(self._cells[first], OpaqueState)
                if not held:
                    self._move(newest, first)

    @collector_paused()
    def _bind(self) -> None:
        """The calls that do something, and the step of each."""
        for value, part in self.layout.parts.of.items():
            self._cells[value] = part.of(self._cells[part.whole])
        flat = [*self._listed(), *self._moves()]
        self._step_of, self._run_calls = [i for i, _ in flat], CallRun([call for _, call in flat])

    def _listed(self) -> Iterator[tuple[int, Call]]:
        blocked = {i: run for run in self.plan.blocked for i in range(run.start, run.stop)}
        for index, step in enumerate(self.plan.steps):
            run = blocked.get(index)
            if run is None:
                yield from ((index, split_call(part)) for part in parts(self._call(step)))
            elif index == run.start:
                yield from self._blocks(run)

    def _over_elsewhere(self, step: Step) -> Collection[tuple[int, str]]:
        return self._last_elsewhere.get(step, ())

    @cached_property
    def _last_elsewhere(self) -> Mapping[Step, Collection[tuple[int, str]]]:
        """Step of another device -> what lies there that none reads after it."""
        seen: set[tuple[int, str]] = set()
        found: dict[Step, set[tuple[int, str]]] = {}
        for step in reversed(self.plan.steps):
            device = self.plan.elsewhere.get(step.op.name)
            if device is not None:
                keys = {(value, device) for value in (*step.reads, *step.writes)}
                found[step] = keys - seen
                seen |= keys
        return found

    def _moves(self) -> Iterator[tuple[int, Call]]:
        """The calls that put what was made elsewhere into the memory of its variable."""
        for last, first in self.layout.moved:
            yield self.plan.made_by[last], partial(self._move, last, first)

    def _move(self, last: int, first: int) -> None:
        self._cells[first][...] = self._cells[last]

    def _work(self, step: Step) -> Call:
        left = self.layout.parts.joining.get(step)
        return super()._work(step) if left is None else self._joined(step, left)

    def _joined(self, step: Step, left: Sequence[int]) -> Call:
        """The calls that put inputs where they belong in the result, but those that are there."""
        assert step.definition is not None
        assert step.definition.memory.pieces is not None
        result, inputs = self._cells[step.writes[0]], [self._cells[v] for v in step.reads]
        places = step.definition.memory.pieces(result, *inputs, **step.definition.keywords(step.op))
        return Several([partial(np.copyto, places[i], inputs[i]) for i in left])


def _overlapping(begins: Mapping[int, int], ends: Mapping[int, int]) -> list[list[int]]:
    """Values by where their memory begins and ends: those that have some in common together, the
    first of each that which begins first."""
    found: list[list[int]] = []
    end = 0
    for value in sorted(begins, key=begins.__getitem__):
        if begins[value] >= end:
            found.append([])
        found[-1].append(value)
        end = max(end, ends[value])
    return found
