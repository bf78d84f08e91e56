"""What puts elements into a queue, and what closes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.declare.type_rules import want_some
from gradstep.core.ops.state.queue import Item, Queue


def shape_text(shape: Any) -> str:
    """A shape as TensorFlow's errors write it: [2,?]."""
    return str(shape if isinstance(shape, Shape) else Shape(tuple(shape))).replace(" ", "")


def _fits(ctx: InferContext, rows: bool) -> None:
    """Raise for components of another number, type or shape than the queue's."""
    wanted, have = ctx.types[0].holds, ctx.types[1:]
    want_some(ctx, "Tcomponents", have)
    if not wanted:
        return  # a handle of which nothing is known
    if [k.dtype for k in wanted] != [k.dtype for k in have]:
        raise ctx.fail(
            f"Signature mismatch, have: {_listed(have)}-> expected: {_listed(wanted)}->",
            hint="give what the queue's component_types say, in their order",
        )
    count = have[0].shape.dims[0] if have and have[0].shape.dims else None
    for index, (queue, given) in enumerate(zip(wanted, have, strict=True)):
        expected = _rows_of(queue.shape, count) if rows else queue.shape
        try:
            expected.merge(given.shape)
        except ValueError:
            raise ctx.fail(_mismatch(index, expected, given.shape), _SHAPES) from None


def _rows_of(shape: Shape, count: int | None) -> Shape:
    return shape if shape.dims is None else Shape((count, *shape.dims))


def _listed(kinds: tuple[TensorType, ...]) -> str:
    return ", ".join(["resource", *(kind.dtype.value for kind in kinds)])


_SHAPES = "enqueue what has the shapes that the queue was made with"


def _mismatch(index: int, expected: Any, got: Any) -> str:
    return (
        f"Shape mismatch in tuple component {index}. "
        f"Expected {shape_text(expected)}, got {shape_text(got)}"
    )


def _one(ctx: InferContext) -> tuple[TensorType, ...]:
    _fits(ctx, rows=False)
    return ()


def _many(ctx: InferContext) -> tuple[TensorType, ...]:
    _fits(ctx, rows=True)
    return ()


def _want_components(handle: Queue, components: Sequence[Any]) -> None:
    """Raise for others than the queue holds: of a handle that went round, no type rule knows."""
    have = [DType.of(x.dtype) for x in components]
    if have != [*handle.dtypes]:
        given, wanted = (", ".join(k.value for k in x) for x in (have, handle.dtypes))
        raise GradstepError(
            f"Signature mismatch, have: resource, {given}-> expected: resource, {wanted}->",
            hint="give what the queue's component_types say, in their order",
        )


def _enqueue(xp: Any, handle: Queue, *components: Any) -> Queue:
    _want_components(handle, components)
    for index, (shape, x) in enumerate(zip(handle.shapes, components, strict=False)):
        if not shape.accepts(x.shape):
            raise GradstepError(_mismatch(index, shape, x.shape), hint=_SHAPES)
    return handle.put([_kept(components)])


def _enqueue_many(xp: Any, handle: Queue, *components: Any) -> Queue:
    _want_components(handle, components)
    count = components[0].shape[0] if components[0].ndim else 0
    for index, x in enumerate(components):
        _check_rows(handle, index, x, count)
    return handle.put([_kept([x[i, ...] for x in components]) for i in range(count)])


def _check_rows(handle: Queue, index: int, x: Any, count: int) -> None:
    if handle.shapes:
        expected = Shape((count, *(handle.shapes[index].dims or ())))
        if not expected.accepts(x.shape):
            raise GradstepError(_mismatch(index, expected, x.shape), hint=_SHAPES)
    elif x.ndim == 0 or len(x) != count:
        raise GradstepError(
            "All input tensors must have the same size in the 0th dimension. Component "
            f"{index} has {len(x) if x.ndim else 0}, and should have {count}",
            hint="enqueue_many puts in a row of every component for each element",
        )


def _kept(components: Any) -> Item:
    """Copies: what is given lies in memory that is used again."""
    return tuple(x.copy() if hasattr(x, "copy") else x for x in components)


_PUT = {"timeout_ms": -1}

op(
    "QueueEnqueueV2",
    also="QueueEnqueue",
    inputs="handle:queue components*",
    outputs="",
    attrs=_PUT,
    type_attrs={"Tcomponents": "types(components)"},
    infer=_one,
    kernel=_enqueue,
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Put one element into a queue; it waits while the queue is full.",
)
op(
    "QueueEnqueueManyV2",
    also="QueueEnqueueMany",
    inputs="handle:queue components*",
    outputs="",
    attrs=_PUT,
    type_attrs={"Tcomponents": "types(components)"},
    infer=_many,
    kernel=_enqueue_many,
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Put each row into a queue as one element; it waits for room for what is left.",
)
op(
    "QueueCloseV2",
    also="QueueClose",
    inputs="handle:queue",
    outputs="",
    attrs={"cancel_pending_enqueues": False},
    infer=lambda ctx: (),
    kernel=lambda xp, handle, *, cancel_pending_enqueues: handle.close(cancel_pending_enqueues),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    doc="Close a queue: nothing more can be put in, and who takes out is told when it is empty.",
)
