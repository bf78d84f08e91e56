"""Putting tensors together and taking them apart."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import UNKNOWN, Shape, TensorType
from core.ops.axes import positive
from core.ops.builder import OpView, Tensor, call, call_many
from core.ops.host import integer, integers
from core.ops.known import constant_of, shape_of
from core.ops.samples import ints
from core.ops.shapes import one_dtype
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import merged, want_rank


def _joined(ctx: InferContext) -> TensorType:
    values = ctx.types[:-1]
    if len(values) < 2:
        raise ctx.fail(f"ConcatV2 needs at least two values and an axis, not {len(values)}")
    want_rank(ctx, len(values), 0)
    dtype, axis = one_dtype(ctx, values), ctx.constant(len(values))
    rank = next((len(v.shape.dims) for v in values if v.shape.dims is not None), None)
    if rank is None:
        return TensorType(dtype)
    if axis is None:
        return TensorType(dtype, Shape((None,) * rank))
    at = positive(integer(axis), rank)
    shape = UNKNOWN
    for kind in values:
        shape = merged(ctx, shape, _with_size(kind.shape, at, None))
    return TensorType(dtype, _with_size(shape, at, _total([v.shape for v in values], at)))


def _with_size(shape: Shape, axis: int, size: int | None) -> Shape:
    """`shape` with `size` along `axis`; of unknown rank it stays unknown."""
    if shape.dims is None or axis >= len(shape.dims):
        return shape
    return Shape((*shape.dims[:axis], size, *shape.dims[axis + 1 :]))


def _total(shapes: list[Shape], axis: int) -> int | None:
    sizes = [None if s.dims is None else s.dims[axis] for s in shapes]
    known = [d for d in sizes if d is not None]
    return sum(known) if len(known) == len(sizes) else None


def _concat(xp: Any, *inputs: Any) -> Any:
    *values, axis = inputs
    return xp.concatenate(values, axis=positive(integer(axis), values[0].ndim))


def _concat_out(xp: Any, *inputs: Any, out: Any) -> Any:
    *values, axis = inputs
    return xp.concatenate(values, axis=positive(integer(axis), values[0].ndim), out=out)


def _pieces(op: OpView, g: Tensor) -> list[Tensor | None]:
    *values, axis = op.inputs
    at = constant_of(axis)
    shapes = [v.shape for v in values]
    if at is None or not all(s.is_static for s in shapes):
        sizes = [shape_of(v) for v in values]
        offsets = call_many("ConcatOffset", axis, *sizes)
        return [*(call("Slice", g, o, s) for o, s in zip(offsets, sizes, strict=True)), None]
    begins = _offsets(integer(at), [s.static() for s in shapes])
    slices = [call("Slice", g, b, shape_of(v)) for b, v in zip(begins, values, strict=True)]
    return [*slices, None]


def _offsets(axis: int, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Where each piece begins in the joined tensor, int32 [rank] each."""
    rank = len(shapes[0])
    at = positive(axis, rank)
    starts = accumulate((sizes[at] for sizes in shapes[:-1]), initial=0)
    unit = np.array([int(i == at) for i in range(rank)], np.int32)
    return [unit * np.int32(start) for start in starts]


def _concat_samples(rng: np.random.Generator) -> list[Sample]:
    shapes = [((2, 3), (1, 3), 0), ((2, 1), (2, 3), -1), ((3,), (0,), 0)]
    return [Sample((rng.normal(size=a), rng.normal(size=b), np.int32(at))) for a, b, at in shapes]


op(
    "ConcatV2",
    inputs="values* #axis",
    type_attrs={"T": "values", "N": "len(values)", "Tidx": "axis"},
    formula="concatenate(values, axis)",
    infer=_joined,
    kernel=_concat,
    out_kernel=_concat_out,
    gradient=_pieces,
    samples=_concat_samples,
    arithmetic="exact",
    doc="The tensors one after the other along an axis.",
)


def _concat_offset(xp: Any, *inputs: Any) -> Any:
    axis, shapes = integer(inputs[0]), [integers(s) for s in inputs[1:]]
    at = positive(axis, len(shapes[0]))
    for number, shape in enumerate(shapes):
        if _without(shape, at) != _without(shapes[0], at):
            raise GradstepError(
                f"All dimensions except {at} must match. Input {number} has shape {list(shape)} "
                f"and doesn't match input 0 with shape {list(shapes[0])}."
            )
    return tuple(xp.asarray(o) for o in _offsets(at, shapes))


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


op(
    "ConcatOffset",
    inputs="#concat_dim #shape*",
    outputs="offset*",
    type_attrs={"N": "len(shape)"},
    formula="0 * shape[0]",
    infer=lambda ctx: tuple(TensorType(k.dtype, k.shape) for k in ctx.types[1:]),
    kernel=_concat_offset,
    differentiable=False,
    samples=lambda rng: [Sample((np.int32(1), ints(2, 3), ints(2, 1), ints(2, 4)))],
    doc="Where each of several tensors begins when they are concatenated.",
)


def _packed(ctx: InferContext) -> TensorType:
    if not ctx.types:
        raise ctx.fail("Pack needs at least one value")
    shape = UNKNOWN
    for kind in ctx.types:
        shape = merged(ctx, shape, kind.shape)
    dtype = one_dtype(ctx)
    if shape.dims is None:
        return TensorType(dtype)
    dims = list(shape.dims)
    dims.insert(positive(ctx.attr("axis"), len(dims) + 1), len(ctx.types))
    return TensorType(dtype, Shape(tuple(dims)))


def _unpack_all(op: OpView, g: Tensor) -> tuple[Tensor, ...]:
    return call_many("Unpack", g, num=len(op.inputs), axis=op.get_attr("axis"))


op(
    "Pack",
    inputs="values*",
    attrs={"axis": 0},
    type_attrs={"T": "values", "N": "len(values)"},
    formula="stack(values, axis)",
    infer=_packed,
    kernel=lambda xp, *values, axis: xp.stack(values, axis=axis),
    gradient=_unpack_all,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"axis": 0}),
        Sample((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"axis": -1}),
        Sample((rng.normal(size=()),), {"axis": 0}),
    ],
    arithmetic="exact",
    doc="Tensors of one shape, stacked along a new axis.",
)


def _unpacked(ctx: InferContext) -> tuple[TensorType, ...]:
    source, num = ctx.types[0], int(ctx.attr("num"))
    if source.shape.dims is None:
        return (TensorType(source.dtype),) * num
    axis = positive(ctx.attr("axis"), len(source.shape.dims))
    size = source.shape.dims[axis]
    if size not in (None, num):
        raise ctx.fail(f"Unpack into {num} tensors needs size {num} along axis {axis}, not {size}")
    dims = tuple(d for i, d in enumerate(source.shape.dims) if i != axis)
    return (TensorType(source.dtype, Shape(dims)),) * num


def _unpack(xp: Any, value: Any, *, num: int, axis: int) -> Any:
    rows = xp.moveaxis(value, axis, 0)
    return tuple(rows[i] for i in range(num))


op(
    "Unpack",
    inputs="value",
    outputs="output*",
    attrs={"num": int, "axis": 0},
    type_attrs={"T": "value"},
    formula="take(value, 0, axis)",
    infer=_unpacked,
    kernel=_unpack,
    gradient=lambda op, *gs: call("Pack", *gs, axis=op.get_attr("axis")),
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)),), {"num": 2, "axis": 0}),
        Sample((rng.normal(size=(2, 3)),), {"num": 3, "axis": -1}),
    ],
    arithmetic="exact",
    doc="The slices of a tensor along an axis, as tensors of their own.",
)
