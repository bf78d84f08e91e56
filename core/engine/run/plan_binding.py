"""Binding a plan: the cells that hold its values, and the calls that its steps become."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.bound_calls import Given, bind_call, failing_call, parts
from gradstep.core.engine.calls.call_loop import Call, StepCalls, do_nothing
from gradstep.core.engine.calls.constant_steps import constants_of
from gradstep.core.engine.calls.host_copies import HostCopies
from gradstep.core.engine.calls.host_side import host_side
from gradstep.core.engine.calls.liveness_guards import Checked, guard_call, new_versions
from gradstep.core.engine.calls.op_evaluation import Functions, bind, locate_error
from gradstep.core.engine.calls.placed_calls import (
    Copies,
    PlacedCall,
    backend_of_body,
    goes_elsewhere,
)
from gradstep.core.engine.calls.scratch_memory import Scratch
from gradstep.core.engine.calls.split_calls import split_call
from gradstep.core.engine.device_transfer import copy_array
from gradstep.core.engine.loops.given_values import NOTHING_GIVEN, Inside
from gradstep.core.engine.loops.loop_pause import Pausing, never
from gradstep.core.engine.memory.arena import Arena
from gradstep.core.engine.memory.host_values import (
    OF_SIZES,
    host_values,
    inputs_on_host,
    iteration_host_values,
    reads_on_host,
)
from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.value_places import Slot
from gradstep.core.engine.placed_backend import PlacedBackend
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.taken_calls import TakenCalls
from gradstep.core.engine.run.variable_store import uninitialised_error, wants_values
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.declare.host_arrays import holds_bfloat16
from gradstep.core.ops.state.opaque_state import OpaqueState

if TYPE_CHECKING:
    from gradstep.core.engine.loops.loop_call import LoopCall
    from gradstep.core.engine.loops.trace_budget import LoopMemory
    from gradstep.core.engine.loops.trace_retention import Retention
    from gradstep.core.engine.plan.loop_body import Iteration
    from gradstep.core.engine.run.recording import Recording
    from gradstep.core.engine.run.step_timer import Stopwatch

_LOG = logging.getLogger("gradstep.engine")

Calls = tuple[Call, ...]
MakeRecording = Callable[[Plan, Backend, Functions, RecordLayout | None], "Recording"]


class Binding:
    """Memory for the values of `plan`, laid out, and the calls of its steps on one backend.

    before: that of the plan that `plan` continues. What can be of its memory and its calls is
    taken over, and then it must not be run any more.
    make_recording: what makes the recordings that the iterations of loops run in.
    Raises GradstepError when there is not enough memory.
    """

    keeps_steps = True  # whether what a step made can be looked at after the run

    @collector_paused()
    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions,
        layout: RecordLayout | None,
        before: Binding | None,
        make_recording: MakeRecording,
    ) -> None:
        self.plan = plan
        self.backend = backend
        self.functions = functions
        self._make_recording = make_recording
        continued = None if before is None else before._continued(plan, backend)
        on_host = frozenset[int]()
        if backend.xp is not np and continued is None and layout is None:
            on_host = host_values(plan, holds_bfloat16(backend.xp))
        self.layout = continued or layout or RecordLayout(plan, on_host=on_host)
        self.copies: Copies | None = None  # of values, on other devices
        if isinstance(backend, PlacedBackend):
            self.copies = Copies(backend.transfers, plan.fed)
        self._failures = dict(plan.failures)
        self._arena, self._room = Arena(), Scratch(backend)
        self._cells: list[Any] = []
        self._fixed = bytearray()  # whether a value's cell is the same object in every run
        self._taken = TakenCalls()  # those of the recording that this one continues
        self._taken_empty: set[int] = set()
        self._were_unsplit = False  # whether none of these is split
        self._passed_on = False
        self._loops: dict[Step, LoopCall] = {}
        self.on_host = HostCopies(backend, self.layout.constants - self.layout.apart)
        if before is not None and continued is not None:
            self._take_over(before)
        try:
            self._arena.grow(self.layout.size, backend)
        except GradstepError as error:
            raise error.at(self._largest()) from None
        if before is not None and continued is not None:
            before._passed_on = True
        self._lay_out()
        self._make_constants()
        if _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug(
                "laid out %d values in an arena of %d bytes on %s: %d calls taken over",
                len(plan.values),
                self._arena.nbytes,
                backend.name,
                len(self._taken),
            )
        self._empty: set[int] | None = None  # the versions without a value it is bound for
        self._lacking: set[int] = set()  # and those that have none if what writes them is dead
        self._absent: set[int] = set()  # those of these that turned out to have none
        self._calls = StepCalls()
        self.keeping: Retention | None = None  # of iterations; None until there is a loop
        self.loop_memory: LoopMemory | None = None  # for that; None: as much as there is
        self.pausing: Pausing = never  # whether loops are to be left between two iterations
        self.stopwatch: Stopwatch | None = None  # to run by, where steps are timed
        self.given: Inside = NOTHING_GIVEN  # what is given by hand in loops, in this run

    def _continued(self, plan: Plan, backend: Backend) -> RecordLayout | None:
        """The layout of `plan` in this recording's memory, if it can go on there."""
        same = self.backend is backend or self.backend == backend
        if self._passed_on or not same or plan.kernels or self.plan.kernels or self.copies:
            return None
        return self.layout.continued(plan)

    def _take_over(self, before: Binding) -> None:
        self._arena, self._room = before._arena, before._room
        self._cells, self._fixed = before._cells, before._fixed
        taken = TakenCalls(before.plan.steps, before._calls.by_step, is_whole=True)
        bad = before._failures.keys() - before.plan.failures.keys()  # constants
        if bad:
            taken = taken.without(lambda step: step.op.name in bad)
        if before.functions != self.functions:
            taken = taken.without(lambda step: step.calls_python)
        self._loops = before._loops
        before.on_host.hand_on(self.on_host)
        self._taken, self._taken_empty = taken, before._empty or set()
        self._were_unsplit = before._calls.is_unsplit

    def _lay_out(self) -> None:
        """Give every value that has none yet its cell."""
        first, values = len(self._cells), len(self.plan.values)
        self._fixed += bytes([True]) * (values - first)
        on_host = self.layout.on_host
        for index in (*self.layout.by_reference, *self.layout.fed_anew, *on_host):
            self._fixed[index] = False
        # One array for each place: NumPy takes in-place work for granted only on one and the same.
        views: dict[Slot, Any] = {}
        self._cells += [None] * (values - first)
        for index, place in self.layout.places.placed(first):
            if index not in self.layout.held:
                view = views.get(place)
                if view is None:
                    view = views[place] = self._view(place, index)
                self._cells[index] = view

    def _view(self, place: Slot, index: int) -> Any:
        try:
            return self._arena.view(place)
        except ValueError:  # of no bytes, with other sizes beyond all bounds, or of too high a rank
            raise GradstepError(
                f"there is no array of shape {list(place.shape)}",
                kind="ResourceExhaustedError",
                node=self._maker(index),
                hint="correct its shape",
            ) from None

    def _make_constants(self) -> None:
        for step in self._taken.lack(self.layout.constant_steps, self.plan):
            self._make_constant(step)

    @collector_paused()
    def _bind(self) -> None:
        """The calls, in order: those that are taken over as they are, but where other variables
        have no value."""
        taken, steps = self._taken, self.plan.steps
        self._lacking = {*(self._empty or ())}
        other = self._taken_empty ^ (self._empty or set())
        if self.plan.branches and (other or self._empty):
            taken = TakenCalls()  # which versions may lack a value is found on the way
        elif other:
            taken = taken.without(lambda step: not other.isdisjoint(step.reads))
        calls, made = taken.of(self.plan, self._calls_of)
        unsplit = self._were_unsplit and not StepCalls(made).is_split
        self._taken, self._were_unsplit = TakenCalls(), False
        self._calls = StepCalls(calls, is_split=False if unsplit else None)
        loops = (steps[number] for number in self.plan.loops)
        self._loops = {step: self._loops[step] for step in loops if step in self._loops}
        for call in self._loops.values():
            call.adopt(self._keeping())  # those that are taken over kept what was asked for then
            call.around = self

    def _calls_of(self, step: Step) -> Calls:
        if not (step.computes or step.guard or self._lacking or step.op.name in self._failures):
            return ()  # as of thousands of variables that are declared
        return tuple(map(split_call, parts(self._call(step))))

    def _largest(self) -> str:
        """The operation whose result takes the most memory."""
        sizes = [0 if place is None else place.size for place in self.layout.places]
        return self._maker(sizes.index(max(sizes)))

    def _maker(self, index: int) -> str:
        """The operation that makes a value, or declares the variable that it is the first of."""
        plan, value = self.plan, self.plan.values[index]
        if not value.variable:
            return value.name
        made_by = plan.made_by[index]
        return plan.steps[made_by].op.name if made_by >= 0 else plan.variables[value.name].op

    def _make_constant(self, step: Step) -> None:
        try:
            arrays = constants_of(self.backend, step, self.functions)
        except GradstepError as error:
            self._failures[step.op.name] = error
            return
        apart, xp = self.layout.apart, self.backend.xp
        for index, array in zip(step.writes, arrays, strict=True):
            self._cells[index] = copy_array(xp, array) if index in apart else array

    def _call(self, step: Step) -> Call:
        guard = step.guard
        if guard is None and not self._lacking:  # nearly always so
            return self._work(step)
        call = self._checked(step)
        if guard is None or not guard.may_skip:
            return call
        lacking = self._lacking
        lacking.update([new for new, old in new_versions(self.plan, step) if old in lacking])
        return guard_call(self.plan, step, call, self._cells, self._fixed, self._absent)

    def _checked(self, step: Step) -> Call:
        """The step's call, or its failure on a variable without a value."""
        skip = step.guard is not None and step.guard.inputs
        for index in () if skip else self._lacking.intersection(wants_values(step)):
            name = self.plan.values[index].variable
            variable = self.plan.variables[name]
            if step.computes or not variable.resource:  # a handle is passed on without a look
                error = uninitialised_error(step, name, variable)
                if index not in (self._empty or ()):
                    return Checked(self._work(step), step.reads, self._absent, error)
                return failing_call(error)
        return self._work(step)

    def _work(self, step: Step) -> Call:
        if step.op.name in self._failures:
            return failing_call(self._failures[step.op.name])
        idle = step.op.type == "NoOp" or self.layout.is_idle(step)
        if idle or not step.computes or not self.layout.constants.isdisjoint(step.writes):
            return do_nothing
        other = self.plan.kernels.get(step.op.name)
        if self.copies is not None and (device := self._device_of(step)):
            return self._placed(step, device)
        try:
            if step.iteration is not None:
                return self._loop(step, step.iteration)
            if other is not None:
                return other.call(step, self._cells, self._fixed)
            backend, cells = self._backend_of(step), (self._cells, self._fixed)
            given = None if self.backend.xp is np else self._given_to(step)
            short = partial(self._has_bfloat16, step)
            return bind_call(backend, step, self.functions, *cells, self._room, given, short)
        except Exception as error:  # a missing attribute, axes that are no integers
            return failing_call(locate_error(error, step.op, self.backend, self._given(step)))

    def _device_of(self, step: Step) -> str:
        """Another device that does the step; "" for none."""
        assert isinstance(self.backend, PlacedBackend)
        if self._works_on_host(step):
            return ""
        values = self.plan.values
        kinds = [values[v].type.dtype for v in (*step.reads, *step.writes)]
        return goes_elsewhere(self.backend, step, kinds)

    def _placed(self, step: Step, device: str) -> Call:
        assert isinstance(self.backend, PlacedBackend)
        assert self.copies is not None
        there = self.backend.others[device]
        try:
            kernel = bind(there, step.op, self.functions)
        except Exception as error:
            return failing_call(locate_error(error, step.op, there))
        home, cells = self.backend.home, (self._cells, self._fixed)
        over = self._over_elsewhere(step)
        return PlacedCall(step, kernel, device, there, home, *cells, self.copies, over)

    def _over_elsewhere(self, step: Step) -> Collection[tuple[int, str]]:
        """What need not lie on its device any more once the step is done there: nothing, where
        somebody may go back."""
        return ()

    def _has_bfloat16(self, step: Step) -> bool:
        values = self.plan.values
        return any(values[v].type.dtype is DType.BFLOAT16 for v in (*step.reads, *step.writes))

    def _backend_of(self, step: Step) -> Backend:
        """Where the step does its work."""
        return host_side(self.backend) if self._works_on_host(step) else self.backend

    def _works_on_host(self, step: Step) -> bool:
        return bool(step.writes) and self.layout.on_host.issuperset(step.writes)

    def _given_to(self, step: Step) -> Given:
        """What a step is given that reads on one side what lies on the other."""
        on_host = self._works_on_host(step)
        known = self.on_host.of_step(step, self._cells, every=on_host)
        lie = {n for n, value in enumerate(step.reads) if value in self.layout.on_host}
        if not on_host:
            return Given(known, frozenset(lie) - reads_on_host(step), self.backend.put)
        others = {*range(len(step.reads))} - lie - known.keys()  # none but after an edit
        fetched = others - reads_on_host(step) if step.op.type in OF_SIZES else others
        return Given(known, frozenset(fetched), self._to_host)

    def _to_host(self, value: Any) -> Any:
        """A copy there, of an array wherever it is; state itself."""
        if type(value) is np.ndarray:
            return value.copy()
        return value if isinstance(value, OpaqueState) else self.backend.get(value)

    def located(self, error: Exception, index: int) -> GradstepError:
        """What stopped step number `index`, as the error that users see."""
        step = self.plan.steps[index]
        return locate_error(error, step.op, self.backend, self._given(step))

    def _given(self, step: Step) -> list[Any]:
        """The arrays that a step works on; of several operations done at once, the first one's."""
        return [self._cells[value] for value in step.reads[: len(step.op.inputs)]]

    def _loop(self, step: Step, iteration: Iteration) -> Call:
        from gradstep.core.engine.loops.loop_call import LoopCall
        from gradstep.core.engine.loops.loop_run import LoopRun

        lacking = self._lacking
        lacking.update([new for new, old in new_versions(self.plan, step) if old in lacking])
        layout = None
        if self.backend.xp is not np:
            on_host = iteration_host_values(iteration, holds_bfloat16(self.backend.xp))
            layout = RecordLayout(iteration.plan, on_host=on_host)
        backend = backend_of_body(iteration.plan, self.backend)
        recording = self._make_recording(iteration.plan, backend, self.functions, layout)
        fed = ((iteration.plan.tensors[ref], step.reads[n]) for ref, n in iteration.fed.items())
        pairs = ((inside, value) for inside, value in fed if isinstance(inside, int))
        recording.on_host.give(self.on_host.of_values(pairs, self._cells))
        run = LoopRun(iteration, recording, self._keeping())
        cells = self._cells, self._fixed, self._absent
        of = {} if layout is None else dict(inputs_on_host(iteration, layout.on_host))
        known = self.on_host.of_values(((n, step.reads[n]) for n in of), self._cells)
        made = self._loops[step] = LoopCall(self, run, step, *cells, known)
        return made

    def _keeping(self) -> Retention:
        from gradstep.core.engine.loops.trace_retention import retention_for

        if self.keeping is None:
            self.keeping = retention_for(self.plan, self.keeps_steps, self.loop_memory)
        return self.keeping
