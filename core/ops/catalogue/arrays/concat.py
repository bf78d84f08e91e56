"""Putting tensors together, along an axis they have or along a new one."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.catalogue.arrays.concat_slices import rows_of_each
from gradstep.core.ops.declare.axes import positive
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, Gradient
from gradstep.core.ops.declare.host_arrays import integer, integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_memory import Pieces
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank
from gradstep.core.ops.typing.static_values import constant_of, shape_of


def _joined(ctx: InferContext, axis_first: bool = False) -> TensorType:
    place = 0 if axis_first else len(ctx.types) - 1
    values = ctx.types[1:] if axis_first else ctx.types[:-1]
    if len(values) < 2:
        raise ctx.fail(f"{ctx.op.type} needs at least two values and an axis, not {len(values)}")
    want_rank(ctx, place, 0)
    dtype, axis = one_dtype(ctx, values), ctx.constant(place)
    shapes = [v.shape for v in values]
    rank = next((s.rank for s in shapes if s.rank is not None), None)
    if rank is None or axis is None:
        return TensorType(dtype, UNKNOWN if rank is None else Shape((None,) * rank))
    at = _axis(integer(axis), rank)
    _check_alike(shapes, at)
    shape = UNKNOWN
    for one in shapes:
        shape = shape.merge(_with_size(one, at, None))
    return TensorType(dtype, _with_size(shape, at, _total(shapes, at)))


def _axis(axis: int, rank: int) -> int:
    if rank == 0:
        raise GradstepError(
            "ConcatOp : Can't concatenate scalars (use tf.stack instead)",
            hint="Pack stacks scalars along a new axis",
        )
    if not -rank <= axis < rank:
        raise GradstepError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but "
            f"got {axis}",
            hint=f"axes go from {-rank} to {rank - 1}",
        )
    return axis % rank


def _check_alike(shapes: list[Shape], axis: int) -> None:
    """Raises GradstepError where sizes differ along another axis than `axis`."""
    first = next(s for s in shapes if s.dims is not None)
    start = shapes.index(first)
    for number, other in enumerate(shapes[start:], start):
        if first.dims is None or other.dims is None:
            continue
        words = f"shape[{start}] = {brackets(first)} vs. shape[{number}] = {brackets(other)}"
        if len(first.dims) != len(other.dims):
            raise GradstepError(f"ConcatOp : Ranks of all input tensors should match: {words}")
        for i, (a, b) in enumerate(zip(first.dims, other.dims, strict=True)):
            if i != axis and None not in (a, b) and a != b:
                raise GradstepError(
                    f"ConcatOp : Dimension {i} in both shapes must be equal: {words}",
                    hint=f"they may differ along axis {axis} only",
                )


def _with_size(shape: Shape, axis: int, size: int | None) -> Shape:
    """`shape` with `size` along `axis`; of unknown rank it stays unknown."""
    if shape.dims is None:
        return shape
    return Shape((*shape.dims[:axis], size, *shape.dims[axis + 1 :]))


def _total(shapes: list[Shape], axis: int) -> int | None:
    sizes = [None if s.dims is None else s.dims[axis] for s in shapes]
    known = [d for d in sizes if d is not None]
    return sum(known) if len(known) == len(sizes) else None


def _concat(xp: Any, *inputs: Any) -> Any:
    *values, axis = inputs
    return xp.concatenate(values, axis=_checked(values, axis))


def _concat_out(xp: Any, *inputs: Any, out: Any) -> Any:
    *values, axis = inputs
    return xp.concatenate(values, axis=_checked(values, axis), out=out)


def _concat_pieces(result: Any, *inputs: Any) -> list[Any]:
    *values, axis = inputs
    whole = (slice(None),) * _checked(values, axis)
    sizes = [v.shape[len(whole)] for v in values]
    ends = accumulate(sizes)
    return [*(result[(*whole, slice(e - n, e))] for n, e in zip(sizes, ends, strict=True)), None]


def _checked(values: Any, axis: Any) -> int:
    at = _axis(integer(axis), values[0].ndim)
    _check_alike([Shape(v.shape) for v in values], at)
    return at


def _pieces(values: list[Tensor], axis: Tensor, g: Tensor | IndexedSlices) -> list[Any]:
    """The part of the gradient that belongs to each of `values`."""
    at = constant_of(axis)
    if isinstance(g, IndexedSlices):
        return rows_of_each(values, at, g)
    shapes = [v.shape for v in values]
    if at is None or not all(s.is_static for s in shapes):
        sizes = [shape_of(v) for v in values]
        offsets = call_many("ConcatOffset", _positive(axis, values), *sizes)
        return [call("Slice", g, o, s) for o, s in zip(offsets, sizes, strict=True)]
    begins = _offsets(integer(at), [s.static() for s in shapes])
    return [call("Slice", g, b, shape_of(v)) for b, v in zip(begins, values, strict=True)]


def _positive(axis: Tensor, values: list[Tensor]) -> Tensor:
    """The axis as ConcatOffset takes it, int32."""
    axis = axis if axis.dtype.value == "int32" else call("Cast", axis, DstT="int32")
    return call("FloorMod", axis, call("Rank", values[0]))


def _offsets(axis: int, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Where each piece begins in the joined tensor, int32 [rank] each."""
    rank = len(shapes[0])
    at = positive(axis, rank)
    starts = accumulate((sizes[at] for sizes in shapes[:-1]), initial=0)
    unit = np.array([int(i == at) for i in range(rank)], np.int32)
    return [unit * np.int32(start) for start in starts]


_SHAPES = (((2, 3), (1, 3), 0), ((2, 1), (2, 3), -1), ((3,), (0,), 0))

op(
    "ConcatV2",
    inputs="values* #axis:int32,int64",
    type_attrs={"T": "values", "N": "len(values)", "Tidx": "axis"},
    formula="concatenate(values, axis)",
    infer=_joined,
    kernel=Kernels(_concat, out=_concat_out),
    memory=Pieces(_concat_pieces),
    gradient=Gradient(
        lambda op, g: [*_pieces(op.inputs[:-1], op.inputs[-1], g), None], takes_slices=True
    ),
    samples=lambda rng: [
        Sample((rng.normal(size=a), rng.normal(size=b), np.int32(at))) for a, b, at in _SHAPES
    ],
    arithmetic="exact",
    doc="The tensors one after the other along an axis.",
)
op(
    "Concat",
    inputs="#concat_dim:int32 values*",
    type_attrs={"T": "values", "N": "len(values)"},
    formula="concatenate(values, concat_dim)",
    infer=lambda ctx: _joined(ctx, axis_first=True),
    kernel=lambda xp, axis, *values: _concat(xp, *values, axis),
    gradient=Gradient(
        lambda op, g: [None, *_pieces(op.inputs[1:], op.inputs[0], g)], takes_slices=True
    ),
    samples=lambda rng: [
        Sample((np.int32(at), rng.normal(size=a), rng.normal(size=b))) for a, b, at in _SHAPES
    ],
    arithmetic="exact",
    doc="ConcatV2 with the axis first, as older graphs have it.",
)


def _concat_offset(xp: Any, *inputs: Any) -> Any:
    at, shapes = integer(inputs[0]), [integers(s) for s in inputs[1:]]
    rank = len(shapes[0])
    if not 0 <= at < rank:
        raise GradstepError(f"Concat dim is out of range: {at} vs. {rank}")
    for number, shape in enumerate(shapes):
        if len(shape) != rank:
            raise GradstepError(
                f"input {number} should contain {rank} elements, but got {len(shape)}"
            )
        if _without(shape, at) != _without(shapes[0], at):
            raise GradstepError(
                f"All dimensions except {at} must match. Input {number} has shape {_sizes(shape)} "
                f"and doesn't match input 0 with shape {_sizes(shapes[0])}."
            )
    return tuple(xp.asarray(o.astype(inputs[1].dtype)) for o in _offsets(at, shapes))


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _sizes(shape: tuple[int, ...]) -> str:
    return f"[{' '.join(map(str, shape))}]"


op(
    "ConcatOffset",
    inputs="#concat_dim:int32 #shape*:int32,int64",
    outputs="offset*",
    type_attrs={"N": "len(shape)", "shape_type": "shape"},
    formula="0 * shape[0]",
    infer=lambda ctx: tuple(TensorType(k.dtype, k.shape) for k in ctx.types[1:]),
    kernel=_concat_offset,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((np.int32(1), ints(2, 3), ints(2, 1), ints(2, 4)))],
    doc="Where each of several tensors begins when they are concatenated.",
)


def _packed(ctx: InferContext) -> TensorType:
    if not ctx.types:
        raise ctx.fail("Pack needs at least one value")
    shape = UNKNOWN
    for number, kind in enumerate(ctx.types):
        try:
            shape = shape.merge(kind.shape)
        except ValueError:
            raise _unlike(ctx.types[0].shape, number, kind.shape) from None
    dtype = one_dtype(ctx)
    if shape.dims is None:
        return TensorType(dtype)
    dims = list(shape.dims)
    dims.insert(_new_axis(ctx.attr("axis"), len(dims)), len(ctx.types))
    return TensorType(dtype, Shape(tuple(dims)))


def _unlike(first: Shape, number: int, other: Shape) -> GradstepError:
    return GradstepError(
        f"Shapes of all inputs must match: values[0].shape = {brackets(first)} != "
        f"values[{number}].shape = {brackets(other)}"
    )


def _new_axis(axis: int, rank: int) -> int:
    if not -rank - 1 <= axis <= rank:
        raise GradstepError(
            f"axis = {axis} not in [{-rank - 1}, {rank + 1})",
            hint="it is where the new axis comes",
        )
    return axis % (rank + 1)


def _pack(xp: Any, *values: Any, axis: int) -> Any:
    for number, value in enumerate(values):
        if value.shape != values[0].shape:
            raise _unlike(Shape(values[0].shape), number, Shape(value.shape))
    return xp.stack(values, axis=_new_axis(axis, values[0].ndim))


def _pack_pieces(result: Any, *values: Any, axis: int) -> list[Any]:
    whole = (slice(None),) * _new_axis(axis, values[0].ndim)
    return [result[(*whole, i, ...)] for i in range(len(values))]


def _unpack_all(op: OpView, g: Tensor) -> tuple[Tensor, ...]:
    return call_many("Unpack", g, num=len(op.inputs), axis=op.get_attr("axis"))


op(
    "Pack",
    inputs="values*",
    attrs={"axis": 0},
    type_attrs={"T": "values", "N": "len(values)"},
    formula="stack(values, axis)",
    infer=_packed,
    kernel=_pack,
    memory=Pieces(_pack_pieces),
    gradient=_unpack_all,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"axis": 0}),
        Sample((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"axis": -1}),
        Sample((rng.normal(size=()),), {"axis": 0}),
    ],
    arithmetic="exact",
    doc="Tensors of one shape, stacked along a new axis.",
)
