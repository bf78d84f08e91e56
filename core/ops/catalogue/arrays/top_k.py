"""The largest elements: their values and places, and whether one is among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type
from gradstep.core.ops.typing.static_values import shape_of


def _top_type(ctx: InferContext) -> tuple[TensorType, TensorType]:
    source, k = ctx.types[0], ctx.constant(1)
    if not (source.dtype.is_floating or source.dtype.is_integer):
        raise wrong_type(ctx, source.dtype, "real numbers")
    want_rank(ctx, 1, 0)
    index = DType(ctx.attr("index_type"))
    if source.shape.dims is None:
        return TensorType(source.dtype), TensorType(index)
    size = None if k is None else _columns(integer(k), source.shape.dims)
    shape = Shape((*source.shape.dims[:-1], size))
    return TensorType(source.dtype, shape), TensorType(index, shape)


def _columns(k: int, dims: tuple[int | None, ...]) -> int:
    """`k`, if an axis of `dims` has that many."""
    if not dims:
        raise GradstepError("input must be >= 1-D, got shape []")
    if k < 0:
        raise GradstepError(f"Need k >= 0, got {k}")
    if dims[-1] is not None and dims[-1] < k:
        raise GradstepError(
            f"input must have at least k columns. Had {dims[-1]}, needed {k}",
            hint="k is at most the size of the last axis",
        )
    return k


def _top(xp: Any, x: Any, k: Any, *, sorted: bool, index_type: DType) -> Any:
    """A stable sort of the reversed rows, read backwards: of equal elements the first comes
    first."""
    count = _columns(integer(k), x.shape)
    size = x.shape[-1]
    order = xp.argsort(xp.flip(x, -1), axis=-1, kind="stable")
    places = (size - 1) - xp.flip(order, -1)[..., :count]
    return xp.take_along_axis(x, places, axis=-1), places.astype(DType(index_type).numpy)


def _scattered(op: OpView, g: Tensor, _: Tensor | None) -> tuple[Tensor, None]:
    """The gradient at the places of the largest, zeros elsewhere: rows laid end to end."""
    x, places = op.inputs[0], op.outputs[1]
    sizes = shape_of(x, places.dtype)
    flat = _numbered(places, sizes)
    updates = g if g.shape.rank == 1 else call("Reshape", g, _FLAT)
    total = call("ScatterNd", flat, updates, _product(sizes))
    return (total if x.shape.rank == 1 else call("Reshape", total, sizes)), None


_FLAT = np.array([-1], np.int32)
_COLUMN = np.array([-1, 1], np.int32)


def _numbered(places: Tensor, sizes: Tensor | np.ndarray) -> Tensor:
    """Places in rows as places in the flat tensor, [how many, 1]."""
    if places.shape.rank == 1:
        return call("ExpandDims", places, np.array(-1, np.int32))
    table = call("Reshape", places, _rows_of(places))
    return call("Reshape", table + _starts(table, sizes), _COLUMN)


def _rows_of(places: Tensor) -> Tensor | np.ndarray:
    if places.shape.is_static:  # spelled out, because -1 says nothing of empty rows
        *outer, columns = places.shape.static()
        return np.array([int(np.prod(outer, dtype=np.int64)), columns], np.int32)
    last = call("StridedSlice", call("Shape", places), *_LAST, shrink_axis_mask=1)
    return call("Pack", np.array(-1, np.int32), last)


_LAST = (np.array([-1], np.int32), np.array([0], np.int32), np.array([1], np.int32))


def _starts(table: Tensor, sizes: Tensor | np.ndarray) -> Tensor:
    """Where each row begins in the flat tensor, [rows, 1]."""
    kind = table.dtype
    if isinstance(sizes, np.ndarray):
        known = np.arange(np.prod(sizes[:-1]), dtype=kind.numpy) * sizes[-1]
        return table.builder.tensor(known.reshape(-1, 1).astype(kind.numpy))
    size = call("StridedSlice", sizes, *_LAST, shrink_axis_mask=1)
    rows = call("StridedSlice", call("Shape", table), *_FIRST, shrink_axis_mask=1)
    zero, one = np.array(0, np.int32), np.array(1, np.int32)
    counted = call("Cast", call("Range", zero, rows, one), DstT=kind) * size
    return call("ExpandDims", counted, np.array(-1, np.int32))


_FIRST = (np.array([0], np.int32), np.array([1], np.int32), np.array([1], np.int32))


def _product(sizes: Tensor | np.ndarray) -> Tensor | np.ndarray:
    """[how many elements]."""
    if isinstance(sizes, np.ndarray):
        return np.array([np.prod(sizes, dtype=np.int64)], sizes.dtype)
    return call("Prod", sizes, np.array([0], np.int32), keep_dims=True)


op(
    "TopKV2",
    inputs="input #k:int16,int32,int64",
    outputs="values indices",
    attrs={"sorted": True, "index_type": DType.INT32},
    choices={"index_type": (DType.INT16, *INDEX)},
    type_attrs={"T": "input", "Tk": "k"},
    formula="flip(sort(input), -1)[..., :k.item()]",
    infer=_top_type,
    kernel=_top,
    gradient=_scattered,
    samples=lambda rng: [
        Sample((rng.permutation(12).reshape(shape) * 0.5, np.int32(k)))
        for shape, k in (((12,), 3), ((3, 4), 2), ((2, 2, 3), 3), ((12,), 0))
    ],
    arithmetic="exact",
    doc="The k largest elements of each row, largest first, and where they are.",
    kinks="of equal elements the first is taken, and gets the whole gradient",
    differs="the values are in order even if sorted is false; NaN counts as the largest, where "
    "TensorFlow's order with NaN depends on k",
)


def _member_type(ctx: InferContext) -> TensorType:
    predictions, targets = ctx.types[0], ctx.types[1]
    if predictions.dtype is not DType.FLOAT32:
        raise wrong_type(ctx, predictions.dtype, "predictions of element type float32")
    _check_members(predictions.shape.dims, targets.shape.dims)
    if len(ctx.types) == 3 and ctx.types[2].shape.rank not in (None, 0):
        raise ctx.fail(f"k must be 0-D, got shape {brackets(ctx.types[2].shape)}")
    if not targets.dtype.is_integer:
        raise wrong_type(ctx, targets.dtype, "targets of an integer type")
    rows = predictions.shape.dims[0] if predictions.shape.dims else None
    return TensorType(DType.BOOL, targets.shape if rows is None else Shape((rows,)))


def _check_members(
    predictions: tuple[int | None, ...] | None, targets: tuple[int | None, ...] | None
) -> None:
    """Raises GradstepError unless they may be a matrix and a vector with a target for each row."""
    if predictions is not None and len(predictions) != 2:
        raise GradstepError("predictions must be 2-dimensional")
    if targets is not None and len(targets) != 1:
        raise GradstepError("targets must be 1-dimensional")
    rows = predictions and predictions[0], targets and targets[0]
    if None not in rows and rows[0] != rows[1]:
        raise GradstepError(
            f"First dimension of predictions {rows[0]} must match length of targets {rows[1]}"
        )


def _in_top(xp: Any, predictions: Any, targets: Any, k: Any) -> Any:
    """Fewer than k are larger. A row with a number that is not finite, or a target that is not
    there, is never in."""
    _check_members(predictions.shape, targets.shape)
    size = predictions.shape[1]
    inside = (targets >= 0) & (targets < size)
    if size == 0:
        return inside
    safe = xp.where(inside, targets, xp.zeros_like(targets)).reshape((-1, 1))
    own = xp.take_along_axis(predictions, safe, axis=1)
    larger = xp.sum((predictions > own).astype(np.int32), axis=1)
    finite = xp.sum((~xp.isfinite(predictions)).astype(np.int32), axis=1) == 0
    return inside & finite & (larger < k)


def _in_top_of_tensor(xp: Any, predictions: Any, targets: Any, k: Any) -> Any:
    if k.ndim:
        raise GradstepError(f"k must be 0-D, got shape {brackets(k.shape)}")
    return _in_top(xp, predictions, targets, integer(k))


def _members(rng: np.random.Generator) -> list[tuple[Any, Any]]:
    predictions = np.array([[0.1, 0.9, 0.3], [0.5, 0.5, 0.1], [1, np.inf, 0]], np.float32)
    return [(predictions, np.array(t, np.int32)) for t in ([1, 1, 0], [0, 0, 1], [2, 5, -1])]


op(
    "InTopK",
    inputs="predictions targets:int32,int64",
    outputs="precision",
    attrs={"k": int},
    type_attrs={"T": "targets"},
    formula="in_top(predictions, targets, k)",
    infer=_member_type,
    kernel=lambda xp, predictions, targets, *, k: _in_top(xp, predictions, targets, k),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample(pair, {"k": k}) for pair in _members(rng) for k in (1, 2)],
    arithmetic="exact",
    doc="Whether fewer than k predictions of each row are larger than its target's.",
)
op(
    "InTopKV2",
    inputs="predictions targets:int32,int64 #k:targets",
    outputs="precision",
    type_attrs={"T": "targets"},
    formula="in_top(predictions, targets, k)",
    infer=_member_type,
    kernel=_in_top_of_tensor,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((*pair, np.int32(k))) for pair in _members(rng) for k in (1, 2)],
    arithmetic="exact",
    doc="Whether fewer than k predictions of each row are larger than its target's.",
)
