"""How often values occur, and in which of several intervals they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type
from gradstep.core.ops.numerics.index_bounds import want_indices
from gradstep.core.ops.numerics.row_updates import sum_rows

_ASKS = "whether a number is negative"
_COUNTED = (DType.INT32, DType.INT64, DType.FLOAT32, DType.FLOAT64)


def _want_numbers(ctx: InferContext, index: int, what: str) -> None:
    kind = ctx.types[index].dtype
    if kind not in _COUNTED:
        raise wrong_type(ctx, kind, f"{what} of element type int32, int64, float32 or float64")


def _bins(ctx: InferContext) -> TensorType:
    for index in (0, 1):
        if ctx.types[index].dtype is not DType.INT32:
            raise wrong_type(ctx, ctx.types[index].dtype, "values and a size of element type int32")
    return TensorType(ctx.types[2].dtype, Shape.of(_bin_count(ctx)))


def _bin_count(ctx: InferContext) -> int | None:
    _want_numbers(ctx, 2, "weights")
    want_rank(ctx, 1, 0)
    size = ctx.constant(1)
    return None if size is None else _size(size)


def _size(size: Any) -> int:
    found = integer(size)
    if found < 0:
        raise GradstepError(f"size ({found}) must be non-negative")
    return found


def _bincount(xp: Any, arr: Any, size: Any, weights: Any) -> Any:
    if weights.size not in (0, arr.size):
        raise GradstepError(
            "Input indices and weights must have the same size.",
            hint="give a weight for each value, or none at all",
        )
    return _counts(xp, arr.reshape(-1), _size(size), weights)


def _counts(xp: Any, arr: Any, count: int, weights: Any, binary: bool = False) -> Any:
    """[*leading axes of arr, count]: of the last axis, how often each number is in it."""
    if xp.any(arr < 0).item():
        raise GradstepError("Input arr must be non-negative!")
    flat = arr.reshape((-1, arr.shape[-1]))
    if weights.size == 0 or binary:
        given = xp.ones(flat.shape, dtype=weights.dtype)
    else:
        given = weights.reshape(flat.shape)
    beyond = flat >= count
    starts = xp.arange(flat.shape[0]).reshape((-1, 1)) * count
    rows = xp.where(beyond, xp.zeros_like(flat), flat) + starts
    total = sum_rows(xp, given, rows, beyond, flat.shape[0] * count)
    found = total.reshape((*arr.shape[:-1], count))
    return xp.minimum(found, 1) if binary else found


_NO_GRADIENT = (
    "it has no gradient: asking for one for the weights is a LookupError, as in TensorFlow"
)

op(
    "Bincount",
    inputs="arr #size weights",
    outputs="bins",
    type_attrs={"T": "weights"},
    formula="counts(arr.ravel(), size, weights)",
    infer=_bins,
    kernel=Kernels(_bincount, asks=_ASKS),
    samples=lambda rng: [
        Sample((ints(1, 2, 2, 5), np.int32(4), rng.normal(size=4))),
        Sample((np.array([[1, 2], [1, 0]], np.int32), np.int32(3), np.zeros(0))),
    ],
    arithmetic="reducing",
    doc="How often each number below size occurs, or the sum of its weights.",
    kinks=_NO_GRADIENT,
)


def _dense_bins(ctx: InferContext) -> TensorType:
    want_indices(ctx, 0)
    one_dtype(ctx, ctx.types[:2])
    arr, count = ctx.types[0].shape, _bin_count(ctx)
    if arr.dims is None:
        return TensorType(ctx.types[2].dtype)
    _check_counted(arr.dims)
    return TensorType(ctx.types[2].dtype, Shape((*arr.dims[:-1], count)))


def _check_counted(dims: tuple[int | None, ...]) -> None:
    if not 1 <= len(dims) <= 2:
        raise GradstepError(f"Shape must be at most rank 2 but is rank {len(dims)}")


def _dense_bincount(xp: Any, arr: Any, size: Any, weights: Any, *, binary_output: bool) -> Any:
    _check_counted(arr.shape)
    if weights.shape != arr.shape and weights.size:
        raise GradstepError(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
            f"acts as all weights equal to 1. Received {brackets(weights.shape)}"
        )
    return _counts(xp, arr, _size(size), weights, binary_output)


op(
    "DenseBincount",
    inputs="input #size weights",
    attrs={"binary_output": False},
    type_attrs={"Tidx": "input", "T": "weights"},
    formula="minimum(counts(input, size, weights), 1 if binary_output else inf)",
    infer=_dense_bins,
    kernel=Kernels(_dense_bincount, asks=_ASKS),
    samples=lambda rng: [
        Sample((ints(1, 2, 2, 5), np.int32(4), rng.normal(size=4))),
        Sample((ints([1, 2], [1, 1]), np.int32(3), rng.uniform(1, 2, (2, 2)))),
        Sample((ints([1, 2], [1, 1]), np.int32(3), np.zeros(0)), {"binary_output": True}),
    ],
    arithmetic="reducing",
    doc="Bincount of each row of a matrix, or of a vector; binary: whether each number occurs.",
    kinks=_NO_GRADIENT,
)


def _histogram_type(ctx: InferContext) -> TensorType:
    one_dtype(ctx, ctx.types[:2])
    _want_numbers(ctx, 0, "values")
    want_rank(ctx, 1, 1)
    want_rank(ctx, 2, 0)
    if not ctx.types[1].shape.accepts((2,)):
        raise ctx.fail("value_range should be a vector of 2 elements.")
    nbins = ctx.constant(2)
    size = None if nbins is None else _positive(nbins)
    return TensorType(DType(ctx.attr("dtype")), Shape.of(size))


def _positive(nbins: Any) -> int:
    found = integer(nbins)
    if found <= 0:
        raise GradstepError(f"nbins should be a positive number, but got '{found}'")
    return found


def _histogram(xp: Any, values: Any, value_range: Any, nbins: Any, *, dtype: DType) -> Any:
    """Bins are found in float64, as TensorFlow does."""
    count = _positive(nbins)
    if value_range.shape != (2,):
        raise GradstepError("value_range should be a vector of 2 elements.")
    low, high = value_range.tolist()
    if not low < high:
        raise GradstepError(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{low:g}, {high:g}]'"
        )
    flat = values.reshape(-1)
    if xp.any(flat != flat).item():
        raise GradstepError("Histogram values must not contain NaN")
    span = value_range[1] - value_range[0]
    start = xp.asarray(value_range[0], dtype=values.dtype)
    distance = (xp.maximum(flat, start) - start).astype(np.float64)
    place = xp.minimum(distance / (float(span) / count), count - 1).astype(np.int32)
    kind = DType(dtype).numpy
    return sum_rows(xp, xp.ones(flat.shape, dtype=kind), place, None, count)


op(
    "HistogramFixedWidth",
    inputs="values #value_range #nbins:int32",
    outputs="out",
    attrs={"dtype": DType.INT32},
    choices={"dtype": INDEX},
    type_attrs={"T": "values"},
    formula="histogram(values, value_range, nbins, dtype)",
    infer=_histogram_type,
    kernel=Kernels(_histogram, asks="whether there is NaN"),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((rng.normal(size=(3, 4)), np.array([-1.0, 1.5]), np.int32(5))),
        Sample((ints(1, 2, 3, 4), ints(0, 4), np.int32(2)), {"dtype": DType.INT64}),
    ],
    arithmetic="exact",
    doc="How many values lie in each of nbins equal intervals; what is outside counts at the ends.",
)


def _bucketed(ctx: InferContext) -> TensorType:
    _want_numbers(ctx, 0, "values")
    _boundaries(ctx.attr("boundaries"))
    return TensorType(DType.INT32, ctx.types[0].shape)


def _boundaries(given: tuple[float, ...]) -> np.ndarray:
    found = np.array(given, np.float32)
    if np.any(found[1:] < found[:-1]):
        raise GradstepError("Expected sorted boundaries")
    return found


def _bucketize(xp: Any, x: Any, *, boundaries: tuple[float, ...]) -> Any:
    edges = xp.asarray(_boundaries(boundaries))
    return xp.searchsorted(edges, x.reshape(-1), side="right").astype(np.int32).reshape(x.shape)


op(
    "Bucketize",
    inputs="input",
    attrs={"boundaries": tuple},
    type_attrs={"T": "input"},
    formula="searchsorted(float32(boundaries), input, 'right')",
    infer=_bucketed,
    kernel=_bucketize,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((x,), {"boundaries": (0.0, 5.0, 10.0)})
        for x in (
            np.array([-1.0, 0.0, 4.5, 5.0, 10.0, np.nan]),
            np.array(7.5),
            ints([1, 5], [9, 20]),
        )
    ],
    arithmetic="exact",
    doc="For each value, how many of the ascending boundaries are not greater.",
)
