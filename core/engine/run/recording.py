"""A plan that runs step by step: one run at a time, every value readable as of every step.

The steps are a flat list of bound calls without arguments, or a native table of them. Running to a
breakpoint is running a slice of it; there is no test per step, neither for breakpoints nor for
failures: whatever makes the calls says how many are done when one fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import compress, count, repeat
from operator import is_, is_not, itemgetter, not_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.call_loop import Call, StepCalls
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS, Functions
from gradstep.core.engine.device_transfer import copy_array, kept, put, size_of
from gradstep.core.engine.loops.loop_pause import LoopPaused
from gradstep.core.engine.memory.arena import Arena
from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.run_snapshot import RunSnapshot
from gradstep.core.engine.plan.dependent_steps import dependent_steps
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.loop_body import trace_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.chosen_rows import ChosenRows
from gradstep.core.engine.run.plan_binding import Binding
from gradstep.core.engine.run.taken_calls import TakenCalls
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef

if TYPE_CHECKING:
    from gradstep.core.engine.loops.loop_call import LoopCall
    from gradstep.core.engine.loops.loop_run import LoopRun
    from gradstep.core.engine.loops.trace_retention import Retention

_OTHER = object()
_NONE: Mapping[int, Any] = MappingProxyType({})


class _Begun(NamedTuple):
    """With what a run began: what these variables were then, and values of the plan's own; they
    had these names, these versions, and these arrays; which of the versions have no value; and what
    was known then of where they lie."""

    variables: Mapping[str, Any]
    version: int | None
    own: Mapping[str, Any]
    names: Sequence[str]
    versions: Mapping[str, Sequence[int]]
    arrays: Sequence[Any]
    empty: set[int]
    known: Mapping[int, Any]


class Recording(Binding):
    """Memory and bound calls for running `plan` again and again on one backend. See Binding."""

    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions = NO_FUNCTIONS,
        layout: RecordLayout | None = None,
        before: Recording | None = None,
    ) -> None:
        # First versions of variables -> the arrays that they were copied from, and still are like.
        self._begun_with: Mapping[int, Any] = {}
        self._begun: _Begun | None = None  # how that came about
        super().__init__(plan, backend, functions, layout, before, Recording)
        self._first = {name: put(backend, x) for name, x in plan.firsts.items()}
        self._turned = False
        self._carrying: tuple[Sequence[tuple[int, int]], list[Call], list[Any]] | None = None
        self._aside: Any = None  # cells and calls for the other way round
        self._still: set[int] = set()  # steps to come that are done, and as they would be

    @property
    def nbytes(self) -> int:
        """Bytes of the arena and of the values by reference; what loops keep is not counted."""
        others = (self._cells[i] for i in self.layout.by_reference)
        return self._arena.nbytes + size_of(others)

    @property
    def lacks_values(self) -> bool:
        """Whether the run that was begun last had variables without a value."""
        return bool(self._empty)

    @property
    def calls(self) -> Iterable[tuple[int, Call]]:
        """What a run consists of once it has begun: the step of each bound call, and the call."""
        return self._calls

    @property
    def calls_as_made(self) -> Iterable[tuple[int, Call]]:
        """The same, each call as runs make it: by NumPy's function, or by its loop alone."""
        return self._calls.as_made()

    def another(self) -> Recording:
        """One of the same plan, in memory of its own."""
        made = Recording(self.plan, self.backend, self.functions, self.layout)
        self.on_host.hand_on(made.on_host)
        return made

    def with_apart(self, values: Collection[int]) -> Recording | None:
        """One that stands where this one does, in its memory, in which nothing else lies where
        these values do; this one must not be run any more. None where that is not a matter of a few
        steps. Raises GradstepError where there is not enough memory."""
        found = self._movable(values) and self.layout.moved_apart(values)
        if not found:
            return None
        other = copy(self)
        other.layout, moved = found
        other._arena.grow(other.layout.size, self.backend)
        views = {place: other._arena.view(place) for place in {*moved.values()}}
        others: list[list[Any]] = [] if self._aside is None else [self._aside[0]]
        for value, place in moved.items():
            view, before = views[place], self._cells[value]
            if before is not None:
                view[...] = before
            for cells in (self._cells, *others):
                cells[value] = view
        other._bind_again(moved)
        return other

    def _movable(self, values: Collection[int]) -> bool:
        plan, layout = self.plan, self.layout
        plain = plan.is_plain and not (plan.kernels or plan.branches or layout.on_host)
        return plain and not (self._empty or self._absent) and layout.constants.isdisjoint(values)

    def _bind_again(self, moved: Collection[int]) -> None:
        """The calls that deal with some values, both ways round."""
        some = frozenset(moved)
        touched = {
            number: step
            for number, step in enumerate(self.plan.steps)
            if not (some.isdisjoint(step.reads) and some.isdisjoint(step.writes))
        }

        def bound(calls: StepCalls) -> StepCalls:
            if not calls.by_step:
                return calls
            made = [*calls.by_step]
            for place, step in touched.items():
                made[place] = self._calls_of(step)
            return StepCalls(made)

        self._calls = bound(self._calls)
        if self._aside is not None:
            begun = self._begun_with
            self._turn()
            self._calls = bound(self._calls)
            self._turn()
            self._begun_with = begun

    def feed(self, feeds: Mapping[TensorRef, Any]) -> None:
        """Take the values of the runs to come, for every fed tensor, from the host or the device.
        Comes before the first run."""
        refs = (self.plan.values[index].ref for index in self.plan.fed)
        self.feed_in_order([feeds[ref] for ref in refs if ref is not None])

    def feed_in_order(self, arrays: Sequence[Any]) -> None:
        """`feed` of one array, or ChosenRows, for each tensor, in the order in which the plan got
        them."""
        if self.copies is not None:
            self.copies.forget_all()
        for index, array in zip(self.plan.fed, arrays, strict=True):
            place = self._cells[index]
            if type(array) is ChosenRows:
                if type(place) is np.ndarray and self._fixed[index]:
                    array.put(place)
                    continue
                array = array.taken()
            if index in self.layout.on_host:
                self._cells[index] = self._to_host(array)
            elif place is None or not self._fixed[index]:
                there = isinstance(array, np.ndarray)  # on the host
                self._cells[index] = self.backend.put(array) if there else array.copy()
                if self._aside is not None:
                    self._aside[0][index] = self._cells[index]
            else:
                place[...] = array if type(array) is type(place) else self.backend.put(array)

    def begin(self, variables: Mapping[str, Any]) -> None:
        """Start a run from these values (device arrays) of the variables; absent ones have none."""
        self._begin(variables)

    def begin_first(self, variables: Mapping[str, Any]) -> None:
        """The same from arrays that nobody ever writes to: nothing is done where the very same were
        taken before, and have stayed what they were."""
        begun = self._begun
        if begun is not None and self._began_so(begun, variables):
            self._close_loops()
            self._set_out(begun.empty)
            return
        self._begin(variables, stay=True)

    def _began_so(self, begun: _Begun, variables: Mapping[str, Any]) -> bool:
        """Whether all these variables lie where that run found them, and are what it began with."""
        if begun.versions is not self.plan.versions or begun.known is not self._begun_with:
            return False
        version = _version_of(variables)
        same = begun.variables is variables and begun.own is self.plan.firsts
        if same and version is not None and version == begun.version:
            return True
        return all(map(is_, self._held_in(variables, begun.names), begun.arrays))

    def _held_in(self, variables: Mapping[str, Any], names: Sequence[str]) -> Iterator[Any]:
        return map(variables.get, names, map(self._first.get, names))

    def _begin(self, variables: Mapping[str, Any], stay: bool = False) -> None:
        self._close_loops()
        starting: Mapping[str, Sequence[int]] = self.plan.versions
        if not stay and self._goes_on(variables):
            self._turn()
            if self._are(variables, self._turning[1]):
                starting = self._not_turning
        names, firsts = [*starting], [*map(itemgetter(0), starting.values())]
        arrays = [*self._held_in(variables, names)]
        # Nobody writes to those that are there already: nearly all, and nothing is done for them.
        there = map(self._cells.__getitem__, firsts)
        if stay:
            there = map(self._begun_with.get, firsts, repeat(_OTHER))
        for place in compress(count(), map(is_not, arrays, there)):
            self._start(firsts[place], arrays[place])
        empty = {*compress(firsts, map(is_, arrays, repeat(None)))}
        self._begun_with = dict(zip(firsts, arrays, strict=True)) if stay else {}
        if stay:
            came = variables, _version_of(variables), self.plan.firsts
            self._begun = _Begun(*came, names, starting, arrays, empty, self._begun_with)
        self._set_out(empty)

    def _close_loops(self) -> None:
        if self._loops:
            for loop in self._both_ways():
                loop.close()

    def _set_out(self, empty: set[int]) -> None:
        """Be before the first step, variables being where they are; `empty` ones have no value."""
        self._absent.clear()
        self._still.clear()
        for index in self._made_by_reference:
            self._cells[index] = None
        if self._empty is None or self._empty != empty:
            self._empty = empty
            self._bind()
        else:  # it is run again, and so will be worth it
            self._calls.pack()

    def go_on(self, carried: Sequence[tuple[int, int]]) -> bool:
        """Start a run from what the last one left, which is over; of `carried` the first version of
        a variable from what another value was. False, and nothing done, where that needs `begin`:
        variables were written to, or lack a value, or are made anew."""
        if self._writes_variables or self._empty or self._absent:
            return False
        if self._carrying is None or self._carrying[0] is not carried:
            self._carrying = carried, *self._moved(carried)
        _, moves, loose = self._carrying
        self._begun_with = {}
        self._still.clear()
        values = [self._cells[value] for _, value in loose]
        if loose and any(value is None for value in values):
            return False
        for loop in self._loops.values():
            loop.close()
        for move in moves:
            move()
        for (version, _), value in zip(loose, values, strict=True):
            self._start(version, value)
        for index in self._made_by_reference:
            self._cells[index] = None
        self._calls.pack()
        return True

    def copies_to_go_on(self, carried: Sequence[tuple[int, int]]) -> list[Call] | None:
        """The calls that do what `go_on` does; None where it is not copying alone, or steps are
        timed."""
        cannot = self._writes_variables or self._empty or self._absent or self._made_by_reference
        if cannot or self._loops or self.stopwatch is not None:
            return None
        copies, loose = self._moved(carried)
        self._begun_with = {}
        if self.copies is not None:
            copies.append(self.copies.forget)
        return None if loose else copies

    def are_apart(self, some: Sequence[int], others: Iterable[int]) -> bool:
        """Whether values are known to lie in places of their own, where none of the others do."""
        cells = self._cells
        if some and (self.backend.xp is not np or not all(self._fixed[v] for v in some)):
            return False
        there = [cells[value] for value in others if cells[value] is not None]
        return not any(np.may_share_memory(cells[v], x) for v in some for x in there)

    def _moved(self, carried: Sequence[tuple[int, int]]) -> tuple[list[Call], list[Any]]:
        """Copies between places that stay, and pairs of which one is held by reference."""
        stays, cells = self._fixed, self._cells
        fixed = [pair for pair in carried if stays[pair[0]] and stays[pair[1]]]
        copies: list[Call] = [
            partial(cells[first].__setitem__, ..., cells[value]) for first, value in fixed
        ]
        return copies, [pair for pair in carried if pair not in fixed]

    def run(self, start: int, stop: int) -> tuple[int, GradstepError | None]:
        """Execute steps `start` to `stop`; how many of the plan's steps are done then, and what
        stopped it early: nothing where it is `pausing`, and left a loop that it can go on with."""
        if self.copies is not None:
            self.copies.forget()
        if self._still:
            return self._run_what_is_not_done(start, stop)
        if self.stopwatch is None:
            made, error = self._calls.between(start, stop)()
            done = stop if error is None else self._calls.step_at(start, made)
        else:
            done, error = self.stopwatch.run(self, start, stop)
        if isinstance(error, LoopPaused):
            return done, None
        return done, None if error is None else self.located(error, done)

    def _run_what_is_not_done(self, start: int, stop: int) -> tuple[int, GradstepError | None]:
        still, self._still = self._still, set()
        try:
            while start < stop:
                end = next((at for at in range(start, stop) if at in still), stop)
                done, error = self.run(start, end)
                if error is not None or done < end:
                    return done, error
                start = next((at for at in range(end, stop) if at not in still), stop)
            return stop, None
        finally:
            self._still = {step for step in still if step >= start}

    def leave_done(self, step: int, done: int) -> None:
        """Go on from step number `step`; those behind it up to `done`, which are done, are not done
        again unless they hang on what is given then, or on what is to `redo`."""
        self._still = {*range(step, done)}
        for loop, call in self._loops.items():
            if self.plan.step_of[loop.op.name] > step:
                call.close()

    def redo(self, step: int) -> None:
        """Do step number `step` again, and what hangs on it."""
        self._still.discard(step)
        self._undo(self.plan.steps[step].writes)

    def _undo(self, values: Iterable[int]) -> None:
        """What hangs on these is not done any more."""
        if self._still:
            first, last = min(self._still), max(self._still)
            for steps in dependent_steps(self.plan, values, first, last + 1):
                self._still.difference_update(steps)

    def value(self, index: int) -> Any:
        """The array of value `index` (meaningless before its step has run); None for a variable
        that has no value."""
        return None if index in self._absent else self._cells[index]

    def copy_of(self, index: int) -> Any:
        """A copy of `value`, which stays as it is."""
        found = self.value(index)
        return None if found is None else kept(found, self.backend.xp.array)

    def loop(self, step: int) -> LoopRun:
        """The run of the loop that is step number `step`, once this run has come there: to be
        driven, and then the step goes on from where it stands; or to look at."""
        return self.loop_call(step).open()

    def loop_call(self, step: int) -> LoopCall:
        """What runs the loop that is step number `step`."""
        return self._loops[self.plan.steps[step]]

    def loop_trace(self, step: int) -> Any:
        """What there is of the iterations of the loop that is step number `step`, where it is
        over."""
        return self.value(trace_of(self.plan.steps[step]))

    def parted(self, values: Iterable[int]) -> Recording:
        """One of the same plan, in memory of its own, in which nothing else lies where these
        values do; before its first run."""
        layout = self.layout.with_apart(values)
        made = Recording(self.plan, self.backend, self.functions, layout)
        self.on_host.hand_on(made.on_host)
        made.keeping, made.loop_memory, made.pausing = self.keeping, self.loop_memory, self.pausing
        made.given = self.given
        return made

    def stand_as(self, other: Recording) -> None:
        """Stand where another one of the same plan stands, once it is fed the same."""
        self.restore(other.record())
        self._still = {*other._still}

    def replace(self, version: int, value: Any) -> None:
        """Others have changed a variable: `version`, the newest by now, is `value`."""
        self._undo([version])
        was_empty = self._cells[version] is None
        if version in self._begun_with:  # which a snapshot may have
            self._begun_with = {v: x for v, x in self._begun_with.items() if v != version}
        self._start(version, value)
        if was_empty:
            self._empty = (self._empty or set()) - {version}
            self._bind()

    def variables(self, step: int | None = None) -> dict[str, Any]:
        """What each variable that outlives the run holds once `step` steps are done; device arrays,
        not copies."""
        newest = self._last if step is None else self._newest(step)
        if self._absent:
            newest = {name: index for name, index in newest.items() if index not in self._absent}
        there = map(self._cells.__getitem__, newest.values())
        found = dict(zip(newest, there, strict=True))
        if any(map(is_, found.values(), repeat(None))):
            return {name: array for name, array in found.items() if array is not None}
        return found

    def keep(self, store: VariableStore, done: int) -> None:
        """Put in `store` what the run wrote to the variables in its first `done` steps."""
        plan = self.plan
        for name, array in self.variables(done).items():
            if plan.newest(name, done) != plan.versions[name][0]:
                store.set(name, array)

    def record(self, into: Arena | None = None) -> RunSnapshot:
        """A copy of this run that outlives the next; in the memory `into`, if that fits."""
        others = instead = _NONE
        if self.layout.by_reference or self._empty or self._absent:
            beside = *self.layout.by_reference, *(self._empty or ()), *self._absent
            others = {i: self.value(i) for i in beside}
        if self._turned:
            instead = self.layout.turns
        absent = frozenset(self._absent)
        begun = self._begun_with
        return RunSnapshot(self, self._arena.copy(into), others, instead, absent, begun)

    def restore(self, snapshot: RunSnapshot) -> None:
        """Stand where a run of this plan stood when `snapshot` was made of it."""
        if self.copies is not None:
            self.copies.forget_all()
        if self._turned != bool(snapshot.instead) and self.layout.turns:
            self._turn()
        if not self._takes_back(snapshot):
            self._begin_as(snapshot)
        for index in self.layout.by_reference:
            self._cells[index] = snapshot.value(index)
        self._absent |= snapshot.absent

    def _takes_back(self, snapshot: RunSnapshot) -> bool:
        """Whether the run was laid out as this one is, and its variables had a value where these
        have one: then its memory is this one's again, and no more is to be done."""
        empty = {index for index, value in snapshot.others.items() if value is None}
        if empty:
            empty.intersection_update(versions[0] for versions in self.plan.versions.values())
        if empty != self._empty or not self._takes_memory(snapshot):
            return False
        self._close_loops()
        self._absent.clear()
        self._still.clear()
        self._begun_with = snapshot.begun_with
        return True

    def _begin_as(self, snapshot: RunSnapshot) -> None:
        """Begin as the run did, and take its values over one by one."""
        firsts = {name: versions[0] for name, versions in self.plan.versions.items()}
        started = {name: snapshot.value(index) for name, index in firsts.items()}
        self.begin({name: array for name, array in started.items() if array is not None})
        if not self._takes_memory(snapshot):
            self._copy_values(snapshot)

    def _takes_memory(self, snapshot: RunSnapshot) -> bool:
        """Whether the run was laid out as this one is: then its memory is copied whole."""
        alike = snapshot.recording.layout is self.layout
        return alike and snapshot.arena.fill(self._arena)

    def _copy_values(self, snapshot: RunSnapshot) -> None:
        """Those that have a place here: it may be another one there."""
        for index in range(len(self.plan.values)):
            if self.layout.places[index] is not None and index not in snapshot.absent:
                value = snapshot.value(index)
                if value is not None and self._cells[index] is not None:
                    self._cells[index][...] = value

    def give(self, index: int, value: Any) -> None:
        """Value `index`, which is there already, is `value` for the steps that are done from now
        on: somebody gave it by hand. It lies apart from all others (see RecordLayout)."""
        if self.copies is not None:
            self.copies.forget_all()
        self._close_unfinished()
        self._undo([index])
        self._absent.discard(index)
        if self.plan.values[index].variable:
            self.replace(index, value)
        elif index in self.layout.on_host:
            self._cells[index] = self._to_host(value)
        elif self._fixed[index]:
            self._cells[index][...] = value
        else:
            self._cells[index] = copy_array(self.backend.xp, value)

    def _close_unfinished(self) -> None:
        """Loops that were left half-way may have begun with something else."""
        for loop in self._loops.values():
            loop.close_unfinished()

    def adopt(self, keeping: Retention) -> None:
        """Let loops keep this of their iterations from now on."""
        self.keeping = keeping
        for loop in self._both_ways():
            loop.adopt(keeping)

    def _newest(self, step: int | None) -> dict[str, int]:
        """Of each variable that outlives the run, the value that it has once `step` steps are
        done."""
        plan = self.plan
        lasting = (name for name in plan.versions if not plan.variables[name].anew)
        return {name: plan.newest(name, step) for name in lasting}

    @cached_property
    def _last(self) -> Mapping[str, int]:
        return self._newest(None)

    @cached_property
    def _made_by_reference(self) -> list[int]:
        """Values that steps make and that have no place of their own."""
        return [index for index in self.layout.by_reference if self.plan.made_by[index] >= 0]

    @cached_property
    def _writes_variables(self) -> bool:
        """Whether a run leaves a variable other than it began, or makes one anew."""
        plan = self.plan
        return any(len(v) > 1 or plan.variables[n].anew for n, v in plan.versions.items())

    def _both_ways(self) -> list[LoopCall]:
        """The loops as they are called now, and the other way round."""
        aside = {} if self._aside is None else self._aside[3]
        return [*self._loops.values(), *aside.values()]

    def _goes_on(self, variables: Mapping[str, Any]) -> bool:
        """Whether all variables start with what the last run left, where it left it."""
        names, _, ends = self._turning
        return bool(names) and self._are(variables, ends)

    def _are(self, variables: Mapping[str, Any], versions: Sequence[int]) -> bool:
        """Whether those that change places have a value, which lies where these versions do. Asked
        before every run: nothing here is Python's work for each variable."""
        held = [*map(variables.get, self._turning[0])]
        there = map(self._cells.__getitem__, versions)
        return all(map(is_, held, there)) and not any(map(is_, held, repeat(None)))

    @cached_property
    def _turning(self) -> tuple[Sequence[str], Sequence[int], Sequence[int]]:
        """The variables that change places from run to run, their first versions and their last."""
        found = {n: v for n, v in self.plan.versions.items() if v[-1] in self.layout.turns}
        return [*found], [v[0] for v in found.values()], [v[-1] for v in found.values()]

    @cached_property
    def _not_turning(self) -> Mapping[str, Sequence[int]]:
        """The other variables, and their versions."""
        turning = set(self._turning[0])
        return {n: v for n, v in self.plan.versions.items() if n not in turning}

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
            self._aside = cells, StepCalls(), None, {}
            self._taken, self._taken_empty = self._calls_either_way(), self._empty or set()
            self._were_unsplit = self._calls.is_unsplit
        self._begun_with = {}
        now = self._cells, self._calls, self._empty, self._loops
        self._cells, self._calls, self._empty, self._loops = self._aside
        self._aside, self._turned = now, not self._turned

    def _calls_either_way(self) -> TakenCalls:
        """Of the calls for this way round those that are the same for the other: they know arrays
        alone, and none of those that change places."""
        if self.copies is not None or self.plan.kernels or self.layout.on_host:
            return TakenCalls()
        others = {*self.layout.turns, *compress(count(), map(not_, self._fixed))}

        def is_other(step: Step) -> bool:
            if step.guard is not None or step.iteration is not None:
                return True
            return not (others.isdisjoint(step.reads) and others.isdisjoint(step.writes))

        return TakenCalls(self.plan.steps, self._calls.by_step).without(is_other)

    def _start(self, version: int, array: Any) -> None:
        """Put a variable's value where its first version lies; None: it has none."""
        place = self.layout.places[version]
        if array is None:
            self._cells[version] = None
        elif array is self._cells[version]:
            pass  # nobody writes to it
        elif version in self.layout.on_host:
            self._cells[version] = self._to_host(array)
        elif place is None:
            self._cells[version] = copy_array(self.backend.xp, array)
        else:
            if self._cells[version] is None:
                self._cells[version] = self._arena.view(place)
            cell = self._cells[version]
            is_home = type(array) is np.ndarray is not type(cell)
            cell[...] = self.backend.put(array) if is_home else array

    def on_device(self, index: int) -> Any:
        """Its value, on the device also where it lies on the host for the steps of this plan."""
        value = self.value(index)
        return self.backend.put(value) if index in self.layout.on_host else value

    def _take_over(self, before: Binding) -> None:
        if isinstance(before, Recording) and before._turned:
            before._turn()
        if isinstance(before, Recording):
            self._begun_with, self._begun = before._begun_with, before._begun
        super()._take_over(before)


def _version_of(variables: Mapping[str, Any]) -> int | None:
    """Another one once they are other arrays; None where nothing says so."""
    return variables.version if isinstance(variables, VariableStore) else None
