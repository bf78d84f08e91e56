"""Runs of a program in which other operations are in another number format each time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.precision.mixed_backend import MixedBackend
from gradstep.core.checks.precision.number_formats import NumberFormat
from gradstep.core.debug.history.first_variables import first_variables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.scopes import is_inside
from gradstep.core.ops.state.print_output import nowhere, printing_to

Start = Mapping[str, Any] | None  # what variables hold, by storage; None for as before run 0


class MixedRuns:
    """Of run 0, as far as `target` needs it: a float32 tensor. scopes: name scopes that may be in
    the format, with the gradients of what is in them; none for all. Raises GradstepError.

    candidates: the operations that may be, in the order in which they run."""

    def __init__(
        self,
        program: Program,
        format_: NumberFormat,
        target: TensorRef,
        scopes: Collection[str] = (),
        start: Start = None,
    ) -> None:
        self._program, self._format = program, format_
        self._feeds = feed_arrays(program.graph, program.feeds)
        self._plan = compile_plan(program.graph, [target], (), infer_fed_types(self._feeds))
        self._target = result_index(self._plan, target)
        self._start = first_variables(program, NumpyBackend()) if start is None else start
        self.candidates = candidates(self._plan, format_, scopes)
        self.count = 0  # runs that were made

    @cached_property
    def plain(self) -> np.ndarray:
        """The target in float32: float64[size]."""
        return self.result(())

    def error(self, chosen: Collection[str]) -> float:
        """How far from that it is (L2 norm) where these are in the format."""
        return float(np.linalg.norm(self.result(chosen) - self.plain))

    def result(self, chosen: Collection[str]) -> np.ndarray:
        """The target where these are in the format: float64[size]."""
        check_cancelled()
        self.count += 1
        backend = MixedBackend(self._format, with_insides(self._program.graph, chosen))
        recording = Recording(self._plan, backend, self._program.functions)
        recording.feed(self._feeds)
        recording.begin(self._start)
        with printing_to(nowhere), np.errstate(all="ignore"):
            _, error = recording.run(0, len(self._plan.steps))
        if error is not None:
            raise error
        return np.array(recording.value(self._target), np.float64).reshape(-1)


def session_at(program: Program, backend: Backend, start: Start) -> Session:
    """A session of the program's graph with these variables."""
    session = Session(program.graph, backend, program.functions)
    first = first_variables(program, backend) if start is None else start
    for name, array in first.items():
        session.store.set(name, array)
    return session


def candidates(plan: Plan, format_: NumberFormat, scopes: Collection[str]) -> tuple[str, ...]:
    """What computes with float32 numbers, and writes no variable: weights stay in float32."""
    found = (step.op for step in plan.steps if _may_be(plan, step, format_))
    return tuple(op.name for op in found if not scopes or in_scopes(op, scopes))


def in_scopes(op: Operation, scopes: Collection[str]) -> bool:
    """Whether an operation, or that whose gradient it is part of, is one of these or in one."""
    names = (op.name, op.origin)
    return any(name == scope or is_inside(name, scope) for name in names for scope in scopes)


def with_insides(graph: Graph, chosen: Iterable[str]) -> frozenset[str]:
    """These and, of loops, what is in them."""
    return frozenset(op.name for op in within(graph[name] for name in chosen))


def _may_be(plan: Plan, step: Step, format_: NumberFormat) -> bool:
    """A loop is one operation, with all that is in it."""
    if not step.computes or step.op.phase is Phase.UPDATE or not step.reads:
        return False
    if step.iteration is not None:
        return True
    if step.definition is None or step.definition.arithmetic not in format_.kinds:
        return False
    values = [plan.values[index] for index in (*step.reads, *step.writes)]
    writes = any(plan.values[index].variable for index in step.writes)
    return not writes and any(value.type.dtype is DType.FLOAT32 for value in values)


def result_index(plan: Plan, target: TensorRef) -> int:
    """Where a plan's run has a tensor that is computed in float32. Raises GradstepError."""
    if target.op in plan.failures:
        raise plan.failures[target.op]
    value = plan.tensors[target]
    if isinstance(value, int) and plan.values[value].type.dtype is DType.FLOAT32:
        return value
    what = f"is {plan.values[value].type}" if isinstance(value, int) else "is a variable itself"
    raise GradstepError(
        f"{target.short} {what}; other formats are tried beside results in float32",
        kind="ValueError",
        node=target.op,
        hint="name another tensor that is computed, such as a loss",
    )
