"""What depends on nothing that changes is computed beforehand: constant folding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.engine.backend import Backend
from core.engine.evaluate import run_op
from core.engine.passes.rewriting import is_pure, rebuilt
from core.engine.plan import Plan
from core.engine.resolve import Step
from core.errors import GradstepError
from core.graph.dtypes import DType
from core.graph.model import Constant, Operation
from core.ops.table import lookup

_LARGEST = 1 << 16  # elements; larger results are cheaper to make than to keep
_MAKERS = ("Const",)


def fold_constants(plan: Plan, backend: Backend) -> Plan:
    """With a Const in place of every step that constants alone decide."""
    known: dict[int, np.ndarray] = {}
    steps = [_folded(plan, step, backend, known) for step in plan.steps]
    changed = any(new is not old for new, old in zip(steps, plan.steps, strict=True))
    return rebuilt(plan, steps) if changed else plan


def _folded(plan: Plan, step: Step, backend: Backend, known: dict[int, np.ndarray]) -> Step:
    if not is_pure(plan, step) or len(step.writes) != 1:
        return step
    if not all(v in known for v in step.reads):
        return step
    try:
        (result,) = run_op(backend, step.op, [backend.put(known[v]) for v in step.reads])
    except GradstepError:
        return step  # it fails where it stands, when it is reached
    array = backend.get(result)
    if array.size > _LARGEST or array.dtype.hasobject:
        return step
    known[step.writes[0]] = array
    return step if step.op.type in _MAKERS else _constant(step, array)


def _constant(step: Step, array: np.ndarray) -> Step:
    attrs = {"value": Constant(array), "dtype": DType.of(array.dtype)}
    op = Operation(step.op.name, "Const", attrs=attrs, origin=step.op.origin, phase=step.op.phase)
    return replace(step, op=op, definition=lookup("Const"), reads=())
