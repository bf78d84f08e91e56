"""Functions of `tf` that put rows into groups, count them, and lay out grids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import alike, constant, ints
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call, call_many
from gradstep.core.ops.typing.static_values import all_axes, shape_of

_ZERO = np.array(0, np.int32)
_ONE = np.array(1, np.int32)


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The rows of each partition."""
    given, parts = constant(data), constant(partitions)
    attrs = {"num_partitions": num_partitions}
    return list(call_many("DynamicPartition", given, parts, **attrs, name=name))


def dynamic_stitch(
    indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None
) -> Tensor:
    """Rows of several tensors put where their indices say."""
    places, rows = [constant(i) for i in indices], [constant(d) for d in data]
    return call("DynamicStitch", *places, *rows, name=name)


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment; 0 where it is empty."""
    data, ids = constant(data), constant(segment_ids)
    with data.builder.scope(name or "UnsortedSegmentMean"):
        many = _rows_of_each(data, ids, num_segments)
        return call("UnsortedSegmentSum", data, ids, ints(num_segments)) / many


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment over the square root of their number."""
    data, ids = constant(data), constant(segment_ids)
    with data.builder.scope(name or "UnsortedSegmentSqrtN"):
        many = _rows_of_each(data, ids, num_segments)
        total = call("UnsortedSegmentSum", data, ids, ints(num_segments))
        return total / call("Sqrt", many)


def _rows_of_each(data: Tensor, ids: Tensor, num_segments: TensorLike) -> Tensor:
    """How many rows each segment has, at least 1, lined up with the rows of the result."""
    one = np.array(1, data.dtype.numpy)
    count = ints(num_segments)
    many = call("UnsortedSegmentSum", call("Fill", shape_of(ids), one), ids, count)
    return call("Maximum", call("Reshape", many, _lined_up(data, ids, count)), one)


def _lined_up(data: Tensor, ids: Tensor, count: TensorLike) -> TensorLike:
    """[count, 1, 1, …]: as many axes as a row of `data` has, and one more."""
    ranks = data.shape.rank, ids.shape.rank
    if ranks[0] is not None and ranks[1] is not None:
        extra = (1,) * (ranks[0] - ranks[1])
        if isinstance(count, np.ndarray):
            return np.array([count, *extra], np.int32)
        return call(
            "ConcatV2", call("ExpandDims", count, _ZERO), np.ones(len(extra), np.int32), _ZERO
        )
    more = call("Rank", data) - call("Rank", ids)
    ones = call("Fill", call("ExpandDims", more, _ZERO), _ONE)
    return call("ConcatV2", call("ExpandDims", constant(count), _ZERO), ones, _ZERO)


def bincount(
    arr: TensorLike,
    weights: TensorLike = None,
    minlength: TensorLike = None,
    maxlength: TensorLike = None,
    dtype: DType | str = "int32",
    name: str | None = None,
) -> Tensor:
    """How often each number occurs, or the sum of its weights."""
    arr = constant(arr)
    with arr.builder.scope(name or "bincount"):
        arr = arr if arr.dtype.is_integer else call("Cast", arr, DstT=DType.INT32)
        some = call("Cast", call("Greater", call("Size", arr), _ZERO), DstT=arr.dtype)
        count = some * (call("Max", arr, all_axes(arr)) + 1)
        if minlength is not None:
            count = call("Maximum", alike(minlength, arr), count)
        if maxlength is not None:
            count = call("Minimum", alike(maxlength, arr), count)
        flat = np.array([-1], np.int32)
        given: TensorLike = np.zeros(0, DType(dtype).numpy)
        if weights is not None:
            given = call("Reshape", constant(weights), flat)
        return call("DenseBincount", call("Reshape", arr, flat), count, given)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DType | str = "int32",
    name: str | None = None,
) -> Tensor:
    """How many values lie in each of nbins equal intervals."""
    values = constant(values)
    inputs = values, alike(value_range, values), ints(nbins)
    return call("HistogramFixedWidth", *inputs, dtype=DType(dtype), name=name)


def bucketize(input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """For each value, how many of the ascending boundaries are not greater."""
    edges = tuple(float(b) for b in boundaries)
    return call("Bucketize", constant(input), boundaries=edges, name=name)


def meshgrid(*args: TensorLike, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """A grid's coordinates along each axis, in the shape of the grid; the first two change
    places with "xy", as on a page."""
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    axes = [constant(x) for x in args]
    if not axes:
        return []
    order = list(range(len(axes)))
    if indexing == "xy" and len(axes) > 1:
        order[:2] = 1, 0
    with axes[0].builder.scope(name):
        lined_up = [
            call("Reshape", x, np.where(np.arange(len(axes)) == order[i], -1, 1).astype(np.int32))
            for i, x in enumerate(axes)
        ]
        one = np.array(1, axes[0].dtype.numpy)
        ones = call("Fill", _grid_shape([axes[i] for i in order]), one)
        return [call("Mul", x, ones) for x in lined_up]


def _grid_shape(axes: list[Tensor]) -> Tensor | np.ndarray:
    if all(x.shape.is_static for x in axes):
        return np.array([np.prod(x.shape.static(), dtype=np.int64) for x in axes], np.int32)
    return call("Pack", *(call("Size", x) for x in axes))


FUNCTIONS = {
    "bincount": bincount,
    "bucketize": bucketize,
    "dynamic_partition": dynamic_partition,
    "dynamic_stitch": dynamic_stitch,
    "histogram_fixed_width": histogram_fixed_width,
    "meshgrid": meshgrid,
    "unsorted_segment_mean": unsorted_segment_mean,
    "unsorted_segment_sqrt_n": unsorted_segment_sqrt_n,
}
