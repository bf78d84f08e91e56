"""Taking a tensor apart: into equal pieces, pieces of given sizes, slices along an axis."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integer, integers
from gradstep.core.ops.declare.result_memory import Slices
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import output_count


def _pieces(ctx: InferContext, axis: Any, sizes: list[int | None]) -> tuple[TensorType, ...]:
    """One type for each size along `axis` (an array, None: not known) of the input 'value'."""
    source = ctx.types[ctx.definition.arity(len(ctx.types)).index("value")]
    if source.shape.dims is None:
        return (TensorType(source.dtype),) * len(sizes)
    dims: list[int | None] = list(source.shape.dims)
    if axis is None:
        return (TensorType(source.dtype, Shape((None,) * len(dims))),) * len(sizes)
    at = _axis(axis, len(dims))
    shapes = [Shape((*dims[:at], size, *dims[at + 1 :])) for size in sizes]
    return tuple(TensorType(source.dtype, shape) for shape in shapes)


def _axis(split_dim: Any, rank: int) -> int:
    """The axis counted from the front. Raises GradstepError when there is no such axis."""
    if split_dim.ndim:
        raise GradstepError(f"split_dim must be a scalar but has rank {split_dim.ndim}")
    at = integer(split_dim)
    if not -rank <= at < rank:
        raise GradstepError(
            f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {at}",
            hint=f"axes go from {-rank} to {rank - 1}" if rank else "a scalar has no axes",
        )
    return at % rank


def _joined_back(axis: Tensor, grads: tuple[Tensor, ...]) -> Tensor:
    return grads[0] if len(grads) == 1 else call("ConcatV2", *grads, axis)


def _equal_pieces(ctx: InferContext) -> tuple[TensorType, ...]:
    dims, axis, ways = ctx.types[1].shape.dims, ctx.constant(0), output_count(ctx, "num_split")
    if ctx.types[0].shape.rank not in (None, 0):
        raise ctx.fail(f"split_dim must be a scalar but has rank {ctx.types[0].shape.rank}")
    if dims is None or axis is None:
        return _pieces(ctx, axis, [None] * ways)
    at = _axis(axis, len(dims))
    size = dims[at]
    return _pieces(ctx, axis, [None if size is None else _share(size, at, ways)] * ways)


def _share(size: int, axis: int, ways: int) -> int:
    if size % ways:
        raise GradstepError(
            "Number of ways to split should evenly divide the split dimension, but got "
            f"split_dim {axis} (size = {size}) and num_split {ways}",
            hint="SplitV cuts pieces of different sizes",
        )
    return size // ways


def _split(xp: Any, split_dim: Any, value: Any, *, num_split: int) -> Any:
    at = _axis(split_dim, value.ndim)
    size = _share(value.shape[at], at, num_split)
    return _cut(value, at, [size] * num_split)


def _cut(value: Any, axis: int, sizes: list[int]) -> tuple[Any, ...]:
    ends = accumulate(sizes)
    whole = (slice(None),) * axis
    return tuple(value[(*whole, slice(e - n, e))] for n, e in zip(sizes, ends, strict=True))


op(
    "Split",
    inputs="#split_dim:int32 value",
    outputs="output*",
    attrs={"num_split": int},
    type_attrs={"T": "value"},
    formula="split(value, num_split, split_dim.item())[0]",
    infer=_equal_pieces,
    kernel=_split,
    memory=Slices(),
    gradient=lambda op, *gs: (None, _joined_back(op.inputs[0], gs)),
    samples=lambda rng: [
        Sample((np.int32(axis), rng.normal(size=(4, 3))), {"num_split": ways})
        for axis, ways in ((0, 2), (-1, 3), (1, 1))
    ],
    arithmetic="exact",
    doc="A number of equal pieces along an axis, one after the other.",
)


def _sized_pieces(ctx: InferContext) -> tuple[TensorType, ...]:
    value, wanted = ctx.types[0].shape, ctx.types[1].shape
    ways, sizes, axis = output_count(ctx, "num_split"), ctx.constant(1), ctx.constant(2)
    if wanted.dims is not None and not Shape((ways,)).accepts(tuple(d or ways for d in wanted)):
        raise _wrong_count(wanted.dims)
    if value.dims is None or sizes is None or axis is None:
        return _pieces(ctx, axis, [None] * ways)
    size = value.dims[_axis(np.array(integer(axis)), len(value.dims))]
    if size is None:
        return _pieces(ctx, axis, [None if s < 0 else s for s in integers(sizes)])
    return _pieces(ctx, axis, [*_sizes(integers(sizes), size)])


def _wrong_count(dims: tuple[int | None, ...]) -> GradstepError:
    elements = int(np.prod([d or 0 for d in dims]))
    return GradstepError(
        "size of the split_tensor must be 1-D and have the same elements as outputs got "
        f"{len(dims)} -D and {elements} elements",
        hint="give one size for each output",
    )


def _sizes(wanted: tuple[int, ...], size: int) -> list[int]:
    """`wanted` with its -1 worked out. Raises GradstepError when they do not add up to `size`."""
    if len(wanted) == 1 and wanted[0] != size:
        raise GradstepError(
            "If there is only one output, it must have the same size as the input. "
            f"Input size: {size} output size: {wanted[0]}"
        )
    if wanted.count(-1) > 1:
        raise GradstepError("There can only be one -1 in the input.")
    given = sum(s for s in wanted if s != -1)
    if given > size or (given < size and -1 not in wanted):
        raise GradstepError(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {given}",
            hint=f"the size there is {size}",
        )
    found = [size - given if s == -1 else s for s in wanted]
    for index, s in enumerate(found):
        if s < 0:
            raise GradstepError(f"Split size at index {index} must be >= 0. Got: {s}")
    return found


def _split_v(xp: Any, value: Any, size_splits: Any, split_dim: Any, *, num_split: int) -> Any:
    if size_splits.shape != (num_split,):
        raise _wrong_count(size_splits.shape)
    at = _axis(np.array(integer(split_dim)), value.ndim)
    return _cut(value, at, _sizes(integers(size_splits), value.shape[at]))


op(
    "SplitV",
    inputs="value #size_splits:int8,int32,int64 #split_dim:int32",
    outputs="output*",
    attrs={"num_split": int},
    type_attrs={"T": "value", "Tlen": "size_splits"},
    formula="pieces(value, size_splits, split_dim)[0]",
    infer=_sized_pieces,
    kernel=_split_v,
    memory=Slices(),
    gradient=lambda op, *gs: (_joined_back(op.inputs[2], gs), None, None),
    samples=lambda rng: [
        Sample(
            (rng.normal(size=(4, 3)), np.array(sizes, np.int64), np.int32(axis)),
            {"num_split": len(sizes)},
        )
        for sizes, axis in (([1, 3], 0), ([1, -1, 0], -1), ([4], 0))
    ],
    arithmetic="exact",
    doc="Pieces of the given sizes along an axis; one size may be -1, for what is left.",
)


def _unpacked(ctx: InferContext) -> tuple[TensorType, ...]:
    source, num = ctx.types[0], output_count(ctx, "num", 0)
    if source.shape.dims is None:
        return (TensorType(source.dtype),) * num
    axis = _unpack_axis(ctx.attr("axis"), len(source.shape.dims))
    if source.shape.dims[axis] not in (None, num):
        raise _wrong_number(axis, num, source.shape.dims)
    dims = tuple(d for i, d in enumerate(source.shape.dims) if i != axis)
    return (TensorType(source.dtype, Shape(dims)),) * num


def _unpack_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise GradstepError(f"axis = {axis} not in [{-rank}, {rank})")
    return axis % rank


def _wrong_number(axis: int, num: int, dims: tuple[int | None, ...]) -> GradstepError:
    return GradstepError(
        f"Input shape axis {axis} must equal {num}, got shape {brackets(dims)}",
        hint=f"num counts the slices along axis {axis}",
    )


def _unpack(xp: Any, value: Any, *, num: int, axis: int) -> Any:
    at = _unpack_axis(axis, value.ndim)
    if value.shape[at] != num:
        raise _wrong_number(at, num, value.shape)
    whole = (slice(None),) * at
    return tuple(value[(*whole, i)] for i in range(num))


def _packed_back(op: OpView, *grads: Tensor) -> Tensor:
    return call("Pack", *grads, axis=op.get_attr("axis"))


op(
    "Unpack",
    inputs="value",
    outputs="output*",
    attrs={"num": int, "axis": 0},
    type_attrs={"T": "value"},
    formula="take(value, 0, axis)",
    infer=_unpacked,
    kernel=_unpack,
    memory=Slices(),
    gradient=_packed_back,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)),), {"num": 2, "axis": 0}),
        Sample((rng.normal(size=(2, 3)),), {"num": 3, "axis": -1}),
    ],
    arithmetic="exact",
    doc="The slices of a tensor along an axis, as tensors of their own.",
)
