"""Two devices and a float64 reference, one step at a time, over the same plan.

Each operation of the right-hand device runs twice: chained, on that device's own earlier results,
and isolated, on the left-hand device's. The isolated run tells the operation that creates an
error from those that merely pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.debug.program import Program
from core.debug.session import first_variables
from core.engine.backend import Backend
from core.engine.feeds import fed_types, feed_arrays
from core.engine.numpy_backend import NumpyBackend
from core.engine.plan import Plan, Step, compile_plan
from core.graph.model import Operation, TensorRef
from gpu.track import Outcome, Track


@dataclass(frozen=True, eq=False)
class Turn:
    """One operation on all tracks, and what its data inputs were on the left and the right: None
    for one that a track does not have."""

    op: Operation
    left: Outcome
    right: Outcome
    isolated: Outcome
    reference: Outcome
    inputs: tuple[np.ndarray | None, ...] = ()
    inputs_right: tuple[np.ndarray | None, ...] = ()


def lockstep(program: Program, left: Backend, right: Backend) -> Iterator[Turn]:
    """Walk run 0 of `program`, in the order of its plan. All tracks start from the variables that
    the left device starts with. Raises GradstepError when that cannot start."""
    feeds = feed_arrays(program.graph, program.feeds)
    plan = compile_plan(program.graph, program.fetches, program.targets, fed_types(feeds))
    start = _start(plan, feeds, program, left)
    tracks = (
        Track(left, plan, program.functions),
        Track(right, plan, program.functions),
        Track(NumpyBackend(), plan, program.functions, wide=True),
    )
    for track in tracks:
        track.begin(start)
    used = {index for step in plan.steps for index in step.reads}
    for name in program.graph.order:
        op = program.graph[name]
        if name in plan.step_of:
            yield _turn(plan.steps[plan.step_of[name]], *tracks)
        elif plan.tensors.get(op.output()) in used:
            fed = Outcome((feeds[op.output()],))
            yield Turn(op, fed, fed, fed, fed)


def _turn(step: Step, a: Track, b: Track, wide: Track) -> Turn:
    inputs, others = a.inputs(step), b.inputs(step)
    left, right, reference = (track.advance(step) for track in (a, b, wide))
    if not step.reads:
        isolated = right
    elif not step.computes or _on_host(step):
        isolated = left
    else:
        isolated = b.try_on(step, inputs)
    for track in (a, b, wide):
        track.forget(step)
    return Turn(step.op, left, right, isolated, reference, inputs, others)


def _on_host(step: Step) -> bool:
    """Whether the step is a Python function, which the device has no part in."""
    return step.definition is not None and "functions" in step.definition.kernel_keywords


def _start(
    plan: Plan, feeds: Mapping[TensorRef, np.ndarray], program: Program, backend: Backend
) -> dict[int, np.ndarray]:
    """Value -> what it is when the run starts: feeds, and the variables that have a value."""
    start = {int(plan.tensors[ref]): array for ref, array in feeds.items()}
    variables = first_variables(program, backend)
    for name, versions in plan.versions.items():
        if name in variables:
            start[versions[0]] = backend.get(variables[name])
        elif (first := plan.variables[name].first) is not None:
            start[versions[0]] = first
    return start
