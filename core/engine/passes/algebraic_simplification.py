"""Steps with a simpler form of the same bits: identities, products with ones, sums of two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, live_out, rebuilt
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.declare.table import lookup

_IDENTITIES = frozenset({"Identity", "StopGradient", "PreventGradient"})
_PRODUCTS = frozenset({"Mul", "RealDiv"})  # x * 1 and x / 1 are x, NaN and -0.0 included
_MAY_PASS_ON = _IDENTITIES | _PRODUCTS


def simplify(plan: Plan) -> Plan:
    """Without identities and products with ones, with Add for an AddN of two, and with Size for
    the first element of a vector's shape."""
    looked_at = live_out(plan)
    instead: dict[int, int] = {}
    kept = []
    for step in plan.steps:
        able = step.op.type in _MAY_PASS_ON and is_pure(plan, step)
        same = _passed_on(plan, step, instead) if able else None
        # What a variable held once is not there any more when the run is over.
        if same is None or (plan.values[same].variable and step.writes[0] in looked_at):
            simpler = _SIMPLER.get(step.op.type)
            kept.append(step if simpler is None else simpler(plan, step))
        else:
            instead[step.writes[0]] = same
    return rebuilt(plan, kept, instead)


def _is_ones(plan: Plan, value: int) -> bool:
    array = plan.constant(value)
    if array is not None:
        return array.dtype.kind in "fiu" and bool((array == 1).all())
    maker = plan.maker(value)
    return maker is not None and maker.op.type == "OnesLike"


def _passed_on(plan: Plan, step: Step, instead: dict[int, int]) -> int | None:
    """The input that is the step's result."""
    if step.op.type in _IDENTITIES:
        return instead.get(step.reads[0], step.reads[0])
    reads = [instead.get(v, v) for v in step.reads]
    pairs = [(reads[0], reads[1])]
    if step.op.type == "Mul":
        pairs.append((reads[1], reads[0]))
    result = plan.values[step.writes[0]].type
    for x, other in pairs:
        if plan.values[x].type == result and result.shape.is_static and _is_ones(plan, other):
            return x
    return None


def _size_of_vector(plan: Plan, step: Step) -> Step:
    """TensorFlow's `shape(x)[0]`."""
    if not is_pure(plan, step):
        return step
    shape, begin, stride = plan.maker(step.reads[0]), step.reads[1], step.reads[3]
    if shape is None or shape.op.type != "Shape":
        return step
    if not (_is_just(plan, begin, 0) and _is_just(plan, stride, 1)):
        return step
    scalar = plan.values[step.writes[0]].type.shape.rank == 0
    if not scalar or plan.values[shape.reads[0]].type.shape.rank != 1:
        return step
    attrs = {"out_type": shape.op.attrs.get("out_type", DType.INT32)}
    op = replace(step.op, type="Size", attrs=attrs, inputs=shape.op.inputs)
    return replace(step, op=op, definition=lookup("Size"), reads=shape.reads)


def _is_just(plan: Plan, value: int, number: int) -> bool:
    """Whether the value is a vector of this one element, in every run."""
    array = plan.constant(value)
    return array is not None and array.tolist() == [number]


def _sum_of_two(_: Plan, step: Step) -> Step:
    if len(step.reads) != 2:
        return step
    return replace(step, op=replace(step.op, type="AddV2", attrs={}), definition=lookup("AddV2"))


_SIMPLER: Mapping[str, Callable[[Plan, Step], Step]] = {
    "AddN": _sum_of_two,
    "StridedSlice": _size_of_vector,
}
