"""Steps with a simpler form of the same bits: identities, products with ones, sums of two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.engine.passes.rewriting import is_pure, rebuilt, wanted
from core.engine.plan import Plan
from core.engine.resolve import Step
from core.graph.dtypes import DType
from core.graph.model import Constant
from core.ops.table import lookup

_IDENTITIES = frozenset({"Identity", "StopGradient", "PreventGradient"})
_PRODUCTS = frozenset({"Mul", "RealDiv"})  # x * 1 and x / 1 are x, NaN and -0.0 included
_MAY_PASS_ON = _IDENTITIES | _PRODUCTS


def simplify(plan: Plan) -> Plan:
    """Without identities and products with ones, with Add for an AddN of two, and with Size for
    the first element of a vector's shape."""
    ones = {s.writes[0] for s in plan.steps if _is_ones(s)}
    looked_at = wanted(plan)
    instead: dict[int, int] = {}
    kept = []
    for step in plan.steps:
        able = step.op.type in _MAY_PASS_ON and is_pure(plan, step)
        same = _passed_on(plan, step, ones, instead) if able else None
        # What a variable held once is not there any more when the run is over.
        if same is None or (plan.values[same].variable and step.writes[0] in looked_at):
            kept.append(_size_of_vector(plan, _sum_of_two(step)))
        else:
            instead[step.writes[0]] = same
    return rebuilt(plan, kept, instead)


def _is_ones(step: Step) -> bool:
    if step.op.type != "Const":
        return step.op.type == "OnesLike"
    value = step.op.attrs.get("value")
    return (
        isinstance(value, Constant)
        and value.array.dtype.kind in "fiu"
        and bool(np.all(value.array == 1))
    )


def _passed_on(plan: Plan, step: Step, ones: set[int], instead: dict[int, int]) -> int | None:
    """The input that is the step's result."""
    if step.op.type in _IDENTITIES:
        return instead.get(step.reads[0], step.reads[0])
    reads = [instead.get(v, v) for v in step.reads]
    pairs = [(reads[0], reads[1])]
    if step.op.type == "Mul":
        pairs.append((reads[1], reads[0]))
    result = plan.values[step.writes[0]].type
    for x, other in pairs:
        if other in ones and plan.values[x].type == result and result.shape.is_static:
            return x
    return None


def _size_of_vector(plan: Plan, step: Step) -> Step:
    """TensorFlow's `shape(x)[0]`."""
    if step.op.type != "StridedSlice" or not is_pure(plan, step):
        return step
    shape, begin, _, stride = (_maker(plan, v) for v in step.reads)
    if shape is None or shape.op.type != "Shape" or (_listed(begin), _listed(stride)) != ([0], [1]):
        return step
    scalar = plan.values[step.writes[0]].type.shape.rank == 0
    if not scalar or plan.values[shape.reads[0]].type.shape.rank != 1:
        return step
    attrs = {"out_type": shape.op.attrs.get("out_type", DType.INT32)}
    op = replace(step.op, type="Size", attrs=attrs, inputs=shape.op.inputs)
    return replace(step, op=op, definition=lookup("Size"), reads=shape.reads)


def _maker(plan: Plan, value: int) -> Step | None:
    """The step that makes a value, if one does."""
    index = plan.made_by[value]
    return plan.steps[index] if index >= 0 else None


def _listed(step: Step | None) -> object:
    """The elements of a constant; None of another step."""
    value = None if step is None else step.op.attrs.get("value")
    return value.array.tolist() if isinstance(value, Constant) else None


def _sum_of_two(step: Step) -> Step:
    if step.op.type != "AddN" or len(step.reads) != 2:
        return step
    return replace(step, op=replace(step.op, type="AddV2", attrs={}), definition=lookup("AddV2"))
