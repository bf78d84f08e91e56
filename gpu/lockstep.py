"""Two devices and a float64 reference, one step at a time, over the same plan.

Each operation of the right-hand device runs twice: chained, on that device's own earlier results,
and isolated, on the left-hand device's. The isolated run tells the operation that creates an
error from those that merely pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.debug.history.first_variables import first_variables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.device_transfer import kept, shown
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.gpu.device_run import Outcome, Track
from gradstep.gpu.recorded_track import make_track


@dataclass(frozen=True, eq=False)
class Turn:
    """One operation on all tracks, and what its data inputs were on the left and the right: None
    for one that a track does not have. bound: it reads state, which stays on its device, so that
    its isolated run is none: that is the chained one, with what it inherits. computes: it does
    something, so that the devices have a part in it."""

    op: Operation
    left: Outcome
    right: Outcome
    isolated: Outcome
    reference: Outcome
    inputs: tuple[np.ndarray | None, ...] = ()
    inputs_right: tuple[np.ndarray | None, ...] = ()
    bound: bool = False
    computes: bool = False


def lockstep(
    program: Program, left: Backend, right: Backend, go_on: bool = False
) -> Iterator[Turn]:
    """Walk run 0 of `program`, in the order of its plan. All tracks start from the variables that
    the left device starts with. go_on: where an operation fails on one side only, that goes on with
    the other's results. Raises GradstepError when that cannot start."""
    plan, start = begun(program, left)
    tracks = (
        Track(left, plan, program.functions),
        make_track(right, plan, program.functions),
        Track(NumpyBackend(), plan, program.functions, wide=True),
    )
    for track in tracks:
        track.begin(start)
    used = {index for step in plan.steps for index in step.reads}
    for name in program.graph.order:
        op = program.graph[name]
        if name in plan.step_of:
            yield _turn(plan.steps[plan.step_of[name]], *tracks, go_on)
        elif plan.tensors.get(op.output()) in used:
            fed = Outcome((start[int(plan.tensors[op.output()])],))
            yield Turn(op, fed, fed, fed, fed)


def begun(program: Program, left: Backend) -> tuple[Plan, dict[int, Any]]:
    """The plan of run 0, and what its values are when it starts. Raises GradstepError."""
    feeds = feed_arrays(program.graph, program.feeds)
    plan = compile_plan(program.graph, program.fetches, program.targets, infer_fed_types(feeds))
    return plan, _start(plan, feeds, program, left)


def _turn(step: Step, a: Track, b: Track, wide: Track, go_on: bool) -> Turn:
    inputs, others = a.inputs(step), b.inputs(step)
    left, right, reference = (track.advance(step) for track in (a, b, wide))
    bound = _is_bound_to(a, b, inputs)
    if left.dead or right.dead:
        isolated = left  # which branch is taken is not of its making
    elif not step.reads or bound:
        isolated = right
    elif not step.computes or _on_host(step) or _merges(step):
        isolated = left
    else:
        isolated = b.try_on(step, inputs)
    if go_on and left.ok != right.ok and (left.error or right.error):
        failing, other = (a, b) if right.ok else (b, a)
        failing.adopt(step, other)
        if not reference.ok:
            wide.adopt(step, other)
    for track in (a, b, wide):
        track.forget(step)
    seen, seen_right = (tuple(x if x is None else shown(x) for x in xs) for xs in (inputs, others))
    about = bound, step.computes
    return Turn(step.op, left, right, isolated, reference, seen, seen_right, *about)


def _is_bound_to(a: Track, b: Track, inputs: Sequence[Any]) -> bool:
    """Whether there is state among a step's inputs whose arrays are on one of the devices."""
    apart = a.backend.xp is not b.backend.xp
    return apart and any(isinstance(x, OpaqueState) for x in inputs)


def _on_host(step: Step) -> bool:
    """Whether the step is a Python function, which the device has no part in."""
    return step.definition is not None and "functions" in step.definition.kernel.keywords


def _merges(step: Step) -> bool:
    """Whether it passes on what is alive, which is another matter on another device."""
    return step.guard is not None and bool(step.guard.inputs)


def _start(
    plan: Plan, feeds: Mapping[TensorRef, np.ndarray], program: Program, backend: Backend
) -> dict[int, Any]:
    """Value -> what it is when the run starts: feeds, and the variables that have a value."""
    start: dict[int, Any] = {int(plan.tensors[ref]): array for ref, array in feeds.items()}
    variables = first_variables(program, backend)
    for name, versions in plan.versions.items():
        if name in variables:
            start[versions[0]] = kept(variables[name], backend.get)
        elif (first := plan.variables[name].first) is not None:
            start[versions[0]] = first
    return start
