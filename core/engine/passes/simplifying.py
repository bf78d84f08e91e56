"""Steps with a simpler form of the same bits: identities, products with ones, sums of two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.engine.passes.rewriting import is_pure, rebuilt
from core.engine.plan import Plan
from core.engine.resolve import Step
from core.graph.model import Constant
from core.ops.table import lookup

_IDENTITIES = frozenset({"Identity", "StopGradient", "PreventGradient"})
_PRODUCTS = frozenset({"Mul", "RealDiv"})  # x * 1 and x / 1 are x, NaN and -0.0 included


def simplify(plan: Plan) -> Plan:
    """Without identities and products with ones, and with Add for an AddN of two."""
    ones = {s.writes[0] for s in plan.steps if _is_ones(s)}
    instead: dict[int, int] = {}
    kept = []
    for step in plan.steps:
        same = _passed_on(plan, step, ones, instead) if is_pure(plan, step) else None
        if same is None:
            kept.append(_sum_of_two(step))
        else:
            instead[step.writes[0]] = same
    return rebuilt(plan, kept, instead)


def _is_ones(step: Step) -> bool:
    if step.op.type == "OnesLike":
        return True
    value = step.op.attrs.get("value") if step.op.type == "Const" else None
    return (
        isinstance(value, Constant)
        and value.array.dtype.kind in "fiu"
        and bool(np.all(value.array == 1))
    )


def _passed_on(plan: Plan, step: Step, ones: set[int], instead: dict[int, int]) -> int | None:
    """The input that is the step's result."""
    if step.op.type in _IDENTITIES:
        return instead.get(step.reads[0], step.reads[0])
    if step.op.type not in _PRODUCTS:
        return None
    reads = [instead.get(v, v) for v in step.reads]
    pairs = [(reads[0], reads[1])]
    if step.op.type == "Mul":
        pairs.append((reads[1], reads[0]))
    result = plan.values[step.writes[0]].type
    for x, other in pairs:
        if other in ones and plan.values[x].type == result and result.shape.is_static:
            return x
    return None


def _sum_of_two(step: Step) -> Step:
    if step.op.type != "AddN" or len(step.reads) != 2:
        return step
    return replace(step, op=replace(step.op, type="AddV2", attrs={}), definition=lookup("AddV2"))
