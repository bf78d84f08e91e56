"""Cutting boxes out of tensors, by begin and size or by Python's slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.arrays.strided_slice_spec import (
    MASKS,
    Spec,
    cut_shape,
    python_index,
)
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.result_memory import Slices
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes
from gradstep.core.ops.typing.static_values import constant_of, shape_of


def _sliced(ctx: InferContext) -> TensorType:
    source, begin, size = ctx.types[0], ctx.constant(1), ctx.constant(2)
    if size is None:
        rank = source.shape.rank
        shape = shape_from_sizes(ctx.types[2].shape) if rank is None else Shape((None,) * rank)
        return TensorType(source.dtype, shape)
    sizes = integers(size)
    dims = (None,) * len(sizes) if source.shape.dims is None else source.shape.dims
    starts = (None,) * len(sizes) if begin is None else integers(begin)
    return TensorType(source.dtype, Shape(_box(dims, starts, sizes)))


Dims = tuple[int | None, ...]


def _box(dims: Dims, begin: Dims, size: tuple[int, ...]) -> Dims:
    """Sizes of the box, -1 worked out; None is what is not known yet. Raises GradstepError when
    it does not lie inside `dims`."""
    if len(begin) != len(dims) or len(size) != len(dims):
        raise _no_vectors(len(dims), f"[{len(begin)}]", f"[{len(size)}]")
    return tuple(_side(*part) for part in zip(range(len(dims)), dims, begin, size, strict=True))


def _no_vectors(rank: int, begin: str, size: str) -> GradstepError:
    return GradstepError(
        f"Expected begin and size arguments to be 1-D tensors of size {rank}, but got shapes "
        f"{begin} and {size} instead.",
        hint="give one begin and one size for each axis",
    )


def _side(axis: int, dim: int | None, begin: int | None, size: int) -> int | None:
    """The size of the box along one axis."""
    if begin is not None and (begin < 0 or (dim is not None and begin > dim)):
        raise GradstepError(
            f"Expected begin[{axis}] in [0, {'?' if dim is None else dim}], but got {begin}",
            index=(axis,),
        )
    room = None if dim is None else dim - (begin or 0)
    if size != -1 and (size < 0 or (room is not None and size > room)):
        raise GradstepError(
            f"Expected size[{axis}] in [0, {'?' if room is None else room}], but got {size}",
            index=(axis,),
        )
    if size != -1:
        return size
    return None if begin is None else room


def _slice(xp: Any, x: Any, begin: Any, size: Any) -> Any:
    if begin.ndim != 1 or size.ndim != 1:
        raise _no_vectors(x.ndim, brackets(begin.shape), brackets(size.shape))
    starts = integers(begin)
    sizes = Shape(_box(x.shape, starts, integers(size))).static()
    return x[tuple(slice(b, b + s) for b, s in zip(starts, sizes, strict=True))]


def _slice_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None, None]:
    """The gradient with zeros around it."""
    x, begin, _ = op.inputs
    start = constant_of(begin)
    if start is not None and x.shape.is_static and op.outputs[0].shape.is_static:
        after = np.array(x.shape.static()) - start - np.array(op.outputs[0].shape.static())
        paddings = np.stack([start, after], axis=1).astype(np.int32)
        return call("Pad", g, paddings), None, None
    left = shape_of(x, begin.dtype) - shape_of(op.outputs[0], begin.dtype)
    return call("Pad", g, call("Pack", begin, left - begin, axis=1)), None, None


op(
    "Slice",
    inputs="input #begin:int32,int64 #size:begin",
    type_attrs={"T": "input", "Index": "begin"},
    formula="box(input, begin, size)",
    infer=_sliced,
    kernel=_slice,
    memory=Slices(),
    gradient=_slice_gradient,
    samples=lambda rng: [
        Sample((rng.normal(size=(3, 4)), ints(1, 0), ints(2, 3))),
        Sample((rng.normal(size=(3, 4)), ints(0, 2), ints(-1, -1))),
        Sample((rng.normal(size=(3,)), ints(3), ints(0))),
    ],
    arithmetic="exact",
    python="slice",
    doc="The box that begins at `begin`; a size of -1 reaches to the end.",
)


def _masks(op: OpView) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in MASKS}


def _strided(ctx: InferContext) -> TensorType:
    source, parts = ctx.types[0], [ctx.constant(i) for i in (1, 2, 3)]
    entries = ctx.types[1].shape.dims
    if source.shape.dims is None or not entries or entries[0] is None:
        return TensorType(source.dtype)
    known = all(part is not None for part in parts)
    if not known:  # ranges that can be told from whole axes
        parts = [np.array([value] * entries[0]) for value in (0, 0, 1)]
    spec = _spec(*parts, *(ctx.attr(name) for name in MASKS))
    dims = source.shape.dims
    try:
        index = python_index(dims if known else (None,) * len(dims), spec)
        return TensorType(source.dtype, cut_shape(dims, index, known))
    except GradstepError as error:
        raise ctx.fail(error.message, error.hint) from None


def _spec(begin: Any, end: Any, strides: Any, *masks: int) -> Spec:
    return Spec(integers(begin), integers(end), integers(strides), *masks)


def _cut(
    xp: Any,
    x: Any,
    begin: Any,
    end: Any,
    strides: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return x[python_index(x.shape, _spec(begin, end, strides, *masks))]


def _strided_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None, None, None]:
    x, *spec = op.inputs
    shape = shape_of(x, spec[0].dtype)
    return call("StridedSliceGrad", shape, *spec, g, **_masks(op)), None, None, None


_CUTS: tuple[tuple[Any, Any, Any, dict[str, int]], ...] = (
    (ints(0, 1), ints(2, 4), ints(1, 2), {}),
    (ints(1, 0), ints(2, 3), ints(1, 1), {"shrink_axis_mask": 1}),
    (ints(-1, 0), ints(0, 0), ints(-1, 1), {"begin_mask": 2, "end_mask": 2}),
    (ints(0, 0, 1), ints(0, 0, 3), ints(1, 1, 1), {"new_axis_mask": 1, "ellipsis_mask": 2}),
    (ints(-2), ints(0), ints(1), {"shrink_axis_mask": 1}),
)


def _cut_samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=(3, 4)), b, e, s), masks) for b, e, s, masks in _CUTS]


_NO_MASKS = dict.fromkeys(MASKS, 0)

op(
    "StridedSlice",
    inputs="input #begin:int16,int32,int64 #end:begin #strides:begin",
    attrs=_NO_MASKS,
    type_attrs={"T": "input", "Index": "begin"},
    formula="input[slices(input, begin, end, strides, masks)]",
    infer=_strided,
    kernel=_cut,
    memory=Slices(),
    gradient=_strided_gradient,
    samples=_cut_samples,
    arithmetic="exact",
    doc="Python's x[a:b:c, ...]; bits of the masks stand for what a slice leaves out.",
)


def _strided_back(
    xp: Any,
    shape: Any,
    begin: Any,
    end: Any,
    strides: Any,
    dy: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    dims = integers(shape)
    index = python_index(dims, _spec(begin, end, strides, *masks))
    full = xp.zeros(dims, dtype=dy.dtype)
    full[index] = dy
    return full


def _whole(ctx: InferContext) -> TensorType:
    dims = ctx.constant(0)
    shape = shape_from_sizes(ctx.types[0].shape) if dims is None else Shape(integers(dims))
    return TensorType(ctx.types[4].dtype, shape)


def _back_again(op: OpView, g: Tensor) -> tuple[None, None, None, None, Tensor]:
    _, *spec, _ = op.inputs
    return None, None, None, None, call("StridedSlice", g, *spec, **_masks(op))


def _back_samples(rng: np.random.Generator) -> list[Sample]:
    found = []
    for b, e, s, masks in _CUTS:
        index = python_index((3, 4), Spec(integers(b), integers(e), integers(s), **masks))
        dy = rng.normal(size=np.zeros((3, 4))[index].shape)
        found.append(Sample((ints(3, 4), b, e, s, dy), masks))
    return found


op(
    "StridedSliceGrad",
    inputs="#shape:int32,int64 #begin:shape #end:shape #strides:shape dy",
    attrs=_NO_MASKS,
    type_attrs={"T": "dy", "Index": "shape"},
    formula="slices_back(shape, begin, end, strides, masks, dy)",
    infer=_whole,
    kernel=_strided_back,
    gradient=_back_again,
    samples=_back_samples,
    arithmetic="exact",
    doc="The gradient of StridedSlice: dy where the slice was, zeros elsewhere.",
)
