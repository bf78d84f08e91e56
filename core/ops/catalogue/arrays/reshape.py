"""Ops that change a tensor's shape and leave its values alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_memory import View
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes, want_rank
from gradstep.core.ops.typing.static_values import constant_of, reshape_like


def _reshaped(ctx: InferContext) -> TensorType:
    source = ctx.types[0]
    want_rank(ctx, 1, 1)
    wanted = ctx.constant(1)
    if wanted is None:
        return TensorType(source.dtype, shape_from_sizes(ctx.types[1].shape))
    sizes = integers(wanted)
    if source.shape.is_static:
        return TensorType(source.dtype, Shape(_fitted(source.shape.static(), sizes)))
    return TensorType(source.dtype, Shape(tuple(None if d == -1 else d for d in sizes)))


def _fitted(have: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """`wanted` with its -1 worked out. Raises GradstepError when the element counts differ."""
    count = math.prod(have)
    if wanted.count(-1) > 1:
        first, second, *_ = (i for i, d in enumerate(wanted) if d == -1)
        raise GradstepError(
            f"Only one input size may be -1, not both {first} and {second}",
            hint="one size can be worked out from the others",
        )
    for index, size in enumerate(wanted):
        if size < -1:
            raise GradstepError(f"Size {index} must be non-negative, not {size}")
    if -1 in wanted:
        return tuple(_missing(have, wanted) if d == -1 else d for d in wanted)
    rest = math.prod(wanted)
    if rest != count:
        raise GradstepError(
            f"Input to reshape is a tensor with {count} values, but the requested shape has {rest}",
            hint=f"its shape is {list(have)}, the requested one {list(wanted)}",
        )
    return wanted


def _missing(have: tuple[int, ...], wanted: tuple[int, ...]) -> int:
    """The size that -1 stands for. Where `wanted` has a size of 0, sizes of 0 are left out of
    both products, as TensorFlow does."""
    empty = 0 in wanted
    count = math.prod(d for d in have if d or not empty)
    rest = math.prod(d for d in wanted if d > 0)
    if count % rest or (empty and 0 not in have):
        raise GradstepError(
            f"Input to reshape is a tensor with {math.prod(have)} values, but the requested shape "
            f"requires a multiple of {0 if empty else rest}",
            hint=f"its shape is {list(have)}",
        )
    return count // rest


op(
    "Reshape",
    inputs="tensor #shape:int32,int64",
    type_attrs={"T": "tensor", "Tshape": "shape"},
    formula="reshape(tensor, shape)",
    infer=_reshaped,
    kernel=lambda xp, x, shape: xp.reshape(x, _fitted(x.shape, integers(shape))),
    gradient=lambda op, g: (reshape_like(g, op.inputs[0]), None),
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), ints(*shape))) for shape in ((6,), (3, -1), (1, 2, 3, 1))
    ],
    arithmetic="exact",
    python="reshape",
    memory=View(),
    doc="The same elements in another shape; one size may be -1, to be worked out.",
)


def _transposed(ctx: InferContext) -> TensorType:
    source, perm = ctx.types[0], ctx.constant(1)
    want_rank(ctx, 1, 1)
    if source.shape.dims is None:
        known = UNKNOWN if perm is None else Shape((None,) * len(integers(perm)))
        return TensorType(source.dtype, known)
    if perm is None:
        return TensorType(source.dtype, Shape((None,) * len(source.shape.dims)))
    order = _order(integers(perm), len(source.shape.dims))
    return TensorType(source.dtype, Shape(tuple(source.shape.dims[i] for i in order)))


def _order(perm: tuple[int, ...], rank: int) -> tuple[int, ...]:
    if len(perm) != rank:
        raise GradstepError(
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size "
            f"{len(perm)}",
            hint="perm names every axis of the input once",
        )
    for axis in perm:
        if not -rank <= axis < rank:
            raise GradstepError(f"{axis} is out of range [0 .. {rank})")
    order = tuple(axis % rank for axis in perm)
    for axis in range(rank):
        if axis not in order:
            raise GradstepError(
                f"{axis} is missing from {{{','.join(map(str, perm))}}}.",
                hint="perm names every axis of the input once",
            )
    return order


def _transposed_back(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    perm = constant_of(op.inputs[1])
    if perm is not None:
        order = _order(integers(perm), len(perm))
        return call("Transpose", g, np.argsort(order).astype(np.int32)), None
    return call("Transpose", g, call("InvertPermutation", op.inputs[1])), None


op(
    "Transpose",
    inputs="x #perm:int32,int64",
    outputs="y",
    type_attrs={"T": "x", "Tperm": "perm"},
    formula="transpose(x, perm)",
    infer=_transposed,
    kernel=lambda xp, x, perm: xp.transpose(x, _order(integers(perm), x.ndim)),
    gradient=_transposed_back,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), ints(1, 0))),
        Sample((rng.normal(size=(2, 3, 4)), ints(2, 0, 1))),
    ],
    arithmetic="exact",
    doc="The axes in another order.",
)


def _permutation(ctx: InferContext) -> TensorType:
    want_rank(ctx, 0, 1)
    return TensorType(ctx.types[0].dtype, ctx.types[0].shape)


def _inverse(xp: Any, x: Any) -> Any:
    if x.ndim != 1:
        raise GradstepError("invert_permutation expects a 1D vector.")
    values, seen = integers(x), set[int]()
    for place, value in enumerate(values):
        if not 0 <= value < len(values):
            raise GradstepError(f"{value} is not between 0 and {len(values)}", index=(place,))
        if value in seen:
            raise GradstepError(f"{value} is duplicated in the input.", index=(place,))
        seen.add(value)
    return xp.argsort(x).astype(x.dtype)


op(
    "InvertPermutation",
    inputs="x:int32,int64",
    outputs="y",
    type_attrs={"T": "x"},
    formula="argsort(x)",
    infer=_permutation,
    kernel=Kernels(_inverse, asks="whether it is a permutation"),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((ints(2, 0, 1),))],
    python="invert_permutation",
    doc="The permutation that undoes x.",
)


def _new_axis(dim: Any, rank: int) -> int:
    if dim.size != 1:
        raise GradstepError("'dim' input must be a tensor with a single value")
    at = int(dim.item())
    if not -rank - 1 <= at <= rank:
        raise GradstepError(
            f"Tried to expand dim index {at} for tensor with {rank} dimensions.",
            hint=f"the new axis can be {-rank - 1} to {rank}",
        )
    return at % (rank + 1)


def _expanded(ctx: InferContext) -> TensorType:
    source, dim = ctx.types[0], ctx.constant(1)
    if source.shape.dims is None:
        return TensorType(source.dtype)
    dims = list(source.shape.dims)
    if dim is None:
        return TensorType(source.dtype, Shape((None,) * (len(dims) + 1)))
    dims.insert(_new_axis(dim, len(dims)), 1)
    return TensorType(source.dtype, Shape(tuple(dims)))


op(
    "ExpandDims",
    inputs="input #dim:int32,int64",
    type_attrs={"T": "input", "Tdim": "dim"},
    formula="expand_dims(input, axes(dim))",
    infer=_expanded,
    kernel=lambda xp, x, dim: xp.expand_dims(x, _new_axis(dim, x.ndim)),
    gradient=lambda op, g: (reshape_like(g, op.inputs[0]), None),
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), np.array(axis, np.int32))) for axis in (0, 1, -1)
    ],
    arithmetic="exact",
    memory=View(),
    doc="A new axis of size 1.",
)


def _squeezed(ctx: InferContext) -> TensorType:
    source = ctx.types[0]
    chosen = ctx.attr("squeeze_dims")
    if source.shape.dims is None or (not chosen and not source.shape.is_static):
        return TensorType(source.dtype)
    gone = _ones(source.shape.dims, chosen)
    dims = tuple(d for i, d in enumerate(source.shape.dims) if i not in gone)
    return TensorType(source.dtype, Shape(dims))


def _ones(dims: tuple[int | None, ...], chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Axes to drop: `chosen`, which must be of size 1, or all that are."""
    if not chosen:
        return tuple(i for i, d in enumerate(dims) if d == 1)
    axes = tuple(dict.fromkeys(_present(i, len(dims)) for i in chosen))
    for axis in axes:
        if dims[axis] not in (None, 1):
            raise GradstepError(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}",
                hint="only axes of size 1 can be dropped",
            )
    return axes


def _present(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise GradstepError(
            f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions.",
            hint=f"axes go from {-rank} to {rank - 1}" if rank else "a scalar has no axes",
        )
    return axis % rank


op(
    "Squeeze",
    inputs="input",
    attrs={"squeeze_dims": ()},
    type_attrs={"T": "input"},
    formula="squeeze(input, squeeze_dims or None)",
    infer=_squeezed,
    kernel=lambda xp, x, *, squeeze_dims: xp.squeeze(x, _ones(x.shape, squeeze_dims)),
    gradient=lambda op, g: reshape_like(g, op.inputs[0]),
    samples=lambda rng: [
        Sample((rng.normal(size=(1, 3, 1)),), {"squeeze_dims": axes}) for axes in ((), (0,), (-1,))
    ],
    arithmetic="exact",
    memory=View(),
    doc="Without the axes of size 1, or without the chosen ones of them.",
)
