"""What takes elements out of a queue, and what asks how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import home, integers
from gradstep.core.ops.declare.op_state import Stateful, Writes
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.state.queue import Item, Queue


def _components(ctx: InferContext) -> tuple[TensorType, ...]:
    """Types of what one element consists of: as the op says, and of the shapes that the queue
    does."""
    wanted, held = [DType(kind) for kind in ctx.attr("component_types")], ctx.types[0].holds
    if not held:
        return tuple(map(TensorType, wanted))
    if wanted != [kind.dtype for kind in held]:
        have, expected = (", ".join(k.value for k in x) for x in (wanted, [k.dtype for k in held]))
        raise ctx.fail(
            f"Signature mismatch, have: resource->{have} expected: resource->{expected}",
            hint="take what the queue's component_types say",
        )
    return held


def _rows(ctx: InferContext, count: int | None) -> tuple[TensorType, ...]:
    return tuple(
        TensorType(k.dtype, k.shape if k.shape.dims is None else Shape((count, *k.shape.dims)))
        for k in _components(ctx)
    )


def _many(ctx: InferContext) -> tuple[TensorType, ...]:
    count = ctx.constant(1)
    return _rows(ctx, None if count is None else _first(count))


def _up_to(ctx: InferContext) -> tuple[TensorType, ...]:
    return _rows(ctx, None)


def _first(n: Any) -> int:
    return integers(n)[0]


def _dequeue(xp: Any, handle: Queue) -> tuple[Any, ...]:
    (item,), left = handle.take(1)
    return (*item, left)


def _dequeue_many(xp: Any, handle: Queue, n: Any) -> tuple[Any, ...]:
    return _taken(xp, handle, _first(n), "DequeueManyOp", or_less=False)


def _dequeue_up_to(xp: Any, handle: Queue, n: Any) -> tuple[Any, ...]:
    return _taken(xp, handle, _first(n), "DequeueUpToOp", or_less=True)


def _taken(xp: Any, handle: Queue, count: int, name: str, or_less: bool) -> tuple[Any, ...]:
    if count < 0:
        raise GradstepError(f"{name} requested {count} < 0 elements", hint="ask for 0 or more")
    if not handle.shapes:
        raise GradstepError(
            f"{handle.type}'s DequeueMany and DequeueUpTo require the components to have "
            "specified shapes.",
            hint="give the queue the shapes of its components, or dequeue one at a time",
        )
    items, left = handle.take(count, or_less) if count else ((), handle)
    return (*(_stacked(xp, handle, i, items) for i in range(len(handle.dtypes))), left)


def _stacked(xp: Any, handle: Queue, component: int, items: Sequence[Item]) -> Any:
    """The elements' components as rows, filled up to one size."""
    arrays = [item[component] for item in items]
    dtype = handle.dtypes[component].numpy
    own = np if dtype.hasobject else xp
    sizes = _largest(handle.shapes[component], [x.shape for x in arrays])
    filling = b"" if handle.dtypes[component] is DType.STRING else 0
    rows = own.full((len(arrays), *sizes), filling, dtype)
    for index, array in enumerate(arrays):
        rows[(index, *map(slice, array.shape))] = array
    return home(xp, rows).asarray(rows)


def _largest(shape: Shape, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The largest sizes that occur; where nothing does, those that are known, and 0."""
    if not shapes:
        return tuple(size or 0 for size in shape)
    return tuple(map(max, zip(*shapes, strict=True)))


_TAKE = {"component_types": tuple, "timeout_ms": -1}

op(
    "QueueDequeueV2",
    also="QueueDequeue",
    inputs="handle:queue",
    outputs="components*",
    attrs=_TAKE,
    infer=_components,
    kernel=_dequeue,
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Take one element out of a queue; it waits while there is none.",
)
op(
    "QueueDequeueManyV2",
    also="QueueDequeueMany",
    inputs="handle:queue #n:int32",
    outputs="components*",
    attrs=_TAKE,
    infer=_many,
    kernel=_dequeue_many,
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Take n elements out of a queue, as rows; it waits until there have been as many.",
)
op(
    "QueueDequeueUpToV2",
    also="QueueDequeueUpTo",
    inputs="handle:queue #n:int32",
    outputs="components*",
    attrs=_TAKE,
    infer=_up_to,
    kernel=_dequeue_up_to,
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="The same, but of a closed queue with fewer elements it takes what there is.",
)
op(
    "QueueSizeV2",
    also="QueueSize",
    inputs="handle:queue",
    outputs="size",
    infer=lambda ctx: TensorType(DType.INT32, SCALAR),
    kernel=lambda xp, handle: xp.asarray(np.int32(len(handle.items))),
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    doc="How many elements there are in a queue.",
)
op(
    "QueueIsClosedV2",
    also="QueueIsClosed",
    inputs="handle:queue",
    outputs="is_closed",
    infer=lambda ctx: TensorType(DType.BOOL, SCALAR),
    kernel=lambda xp, handle: xp.asarray(np.bool_(handle.closed)),
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    doc="Whether a queue is closed.",
)
