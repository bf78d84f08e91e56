"""Constant folding: what depends on nothing that changes is computed beforehand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, rebuilt
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.ops.declare.table import lookup

_LARGEST = 1 << 16  # elements; larger results are cheaper to make than to keep
# Of these the input's shape alone decides, and that may be known where the input is not.
_OF_SHAPE = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"})


def fold_constants(plan: Plan, backend: Backend) -> Plan:
    """With a Const in place of every step that constants alone decide."""
    known: dict[int, np.ndarray] = {}
    steps = [_folded(plan, step, backend, known) for step in plan.steps]
    changed = any(new is not old for new, old in zip(steps, plan.steps, strict=True))
    return rebuilt(plan, steps) if changed else plan


def _folded(plan: Plan, step: Step, backend: Backend, known: dict[int, np.ndarray]) -> Step:
    may_be = known.keys() >= set(step.reads) or step.op.type in _OF_SHAPE
    if not may_be or len(step.writes) != 1 or not is_pure(plan, step):
        return step
    inputs = [_input(plan, step, v, known) for v in step.reads]
    if any(x is None for x in inputs):
        return step
    try:
        (result,) = run_op(backend, step.op, [backend.put(x) for x in inputs if x is not None])
    except GradstepError:
        return step  # it fails where it stands, when it is reached
    array = backend.get(result)
    if array.size > _LARGEST or array.dtype.hasobject:
        return step
    known[step.writes[0]] = array
    return step if step.op.type == "Const" else _constant(step, array)


def _input(plan: Plan, step: Step, value: int, known: dict[int, np.ndarray]) -> np.ndarray | None:
    """The value, or something of its shape where nothing more matters; None if it is not known."""
    kind = plan.values[value].type
    if value in known or step.op.type not in _OF_SHAPE or not kind.shape.is_static:
        return known.get(value)
    if kind.dtype.numpy.hasobject or math.prod(kind.shape.static()) > _LARGEST:
        return None
    return np.zeros(kind.shape.static(), kind.dtype.numpy)


def _constant(step: Step, array: np.ndarray) -> Step:
    attrs = {"value": Constant(array), "dtype": DType.of(array.dtype)}
    op = Operation(step.op.name, "Const", attrs=attrs, origin=step.op.origin, phase=step.op.phase)
    return replace(step, op=op, definition=lookup("Const"), reads=())
