"""The queues themselves: each op declares one, and its output is the handle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Resource
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.declare.type_rules import want_some
from gradstep.core.ops.numerics.philox import seeds_of
from gradstep.core.ops.state.queue import Queue
from gradstep.core.ops.state.queue_kinds import PriorityQueue, ShuffleQueue
from gradstep.core.ops.typing.dependent_attributes import as_long_as

_ATTRS = {
    "component_types": tuple,
    "shapes": (),
    "capacity": -1,
    "container": "",
    "shared_name": "",
}
_LISTS = as_long_as("component_types", "shapes")
_PRIORITY = TensorType(DType.INT64, SCALAR)


def _components(ctx: InferContext, some: bool = True) -> tuple[TensorType, ...]:
    """The types of the components of an element. some: there must be one."""
    dtypes, shapes = ctx.attr("component_types"), ctx.attr("shapes")
    if some:
        want_some(ctx, "component_types", dtypes)
    if shapes and len(shapes) != len(dtypes):
        raise ctx.fail(
            "Queue shapes must have the same length as dtypes, received "
            f"len(shapes)={len(shapes)}, len(dtypes)={len(dtypes)}"
        )
    known = [Shape(s.dims) for s in shapes] or [UNKNOWN] * len(dtypes)
    return tuple(TensorType(DType(d), s) for d, s in zip(dtypes, known, strict=True))


def _handle(ctx: InferContext) -> TensorType:
    return TensorType(DType.RESOURCE, SCALAR, holds=_components(ctx), handle="queue")


def _full_handle(ctx: InferContext, some: bool = True) -> TensorType:
    components = _components(ctx, some)
    if ctx.attr("shapes") and not all(kind.shape.is_static for kind in components):
        raise ctx.fail(
            f"All shapes must be fully defined: {[str(kind.shape) for kind in components]}",
            hint="a PaddingFIFOQueue takes elements of different sizes",
        )
    return TensorType(DType.RESOURCE, SCALAR, holds=components, handle="queue")


def _priority_handle(ctx: InferContext) -> TensorType:
    full = _full_handle(ctx, some=False)
    return replace(full, holds=(_PRIORITY, *full.holds))


def _said(op: Operation, type: str) -> dict[str, Any]:
    """What the attributes say of any queue. One without a shared name is called as TensorFlow calls
    the first of a process."""
    return {
        "type": type,
        "name": str(op.attrs.get("shared_name") or f"_0_{op.name}"),
        "capacity": attribute(op, "capacity", int, -1),
        "dtypes": tuple(DType(kind) for kind in attribute(op, "component_types", tuple)),
        "shapes": tuple(attribute(op, "shapes", tuple, ())),
    }


def _fifo(op: Operation) -> Queue:
    return Queue(**_said(op, "FIFOQueue"))


def _padding(op: Operation) -> Queue:
    return Queue(**_said(op, "PaddingFIFOQueue"))


def _shuffling(op: Operation) -> Queue:
    seeds = seeds_of(attribute(op, "seed", int, 0), attribute(op, "seed2", int, 0), op.name)
    keeps = attribute(op, "min_after_dequeue", int, 0)
    return ShuffleQueue(**_said(op, "RandomShuffleQueue"), keeps=keeps, seeds=seeds)


def _by_priority(op: Operation) -> Queue:
    said = _said(op, "PriorityQueue")
    said["dtypes"] = (DType.INT64, *said["dtypes"])
    said["shapes"] = (SCALAR, *said["shapes"])
    return PriorityQueue(**said)


op(
    "FIFOQueueV2",
    also="FIFOQueue",
    outputs="handle",
    attrs=_ATTRS,
    follow=_LISTS,
    infer=_full_handle,
    state=Resource(_fifo),
    gradient=NOT_DIFFERENTIABLE,
    doc="A queue: first in, first out.",
)
op(
    "PaddingFIFOQueueV2",
    also="PaddingFIFOQueue",
    outputs="handle",
    attrs=_ATTRS,
    follow=_LISTS,
    infer=_handle,
    state=Resource(_padding),
    gradient=NOT_DIFFERENTIABLE,
    doc="A queue whose elements may differ in size; many of them are filled up with zeros.",
)
op(
    "RandomShuffleQueueV2",
    also="RandomShuffleQueue",
    outputs="handle",
    attrs={**_ATTRS, "min_after_dequeue": 0, "seed": 0, "seed2": 0},
    follow=_LISTS,
    infer=_full_handle,
    state=Resource(_shuffling),
    gradient=NOT_DIFFERENTIABLE,
    doc="A queue that hands out its elements in random order; min_after_dequeue stay in it.",
    differs="with both seeds 0, where TensorFlow draws from the clock, the name is the seed",
)
op(
    "PriorityQueueV2",
    also="PriorityQueue",
    outputs="handle",
    attrs=_ATTRS,
    follow=_LISTS,
    infer=_priority_handle,
    state=Resource(_by_priority),
    gradient=NOT_DIFFERENTIABLE,
    doc="A queue that hands out the lowest priority first: a whole number before the components.",
    differs="of equal priorities the oldest comes first; TensorFlow promises no order",
)
