"""Functions of `tf` that are more than an op's name: with arguments of their own, or defaults."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.graph.dtypes import DType
from core.ops.tensor import Tensor, TensorLike, call, call_many

Axes = int | Sequence[int] | None


def constant(value: TensorLike, dtype: DType | str | None = None) -> Tensor:
    """`value` as a tensor; float32, int32 or bool unless `dtype` says otherwise."""
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value, None if dtype is None else DType(dtype).numpy)
    if dtype is None and not isinstance(value, np.ndarray | np.generic):
        small = {"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)
        array = array.astype(small)
    return call("Const", value=array, dtype=DType.of(array.dtype))


convert_to_tensor = constant


def zeros(shape: TensorLike, dtype: DType | str = "float32") -> Tensor:
    return call("Fill", _ints(shape), constant(0, dtype))


def ones(shape: TensorLike, dtype: DType | str = "float32") -> Tensor:
    return call("Fill", _ints(shape), constant(1, dtype))


def cast(x: TensorLike, dtype: DType | str) -> Tensor:
    return call("Cast", constant(x), DstT=DType(dtype))


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """`x` where the condition holds, else `y`; Select for equal shapes, SelectV2 to broadcast."""
    like = next((t for t in (x, y) if isinstance(t, Tensor)), None)
    chosen = _alike(x, like), _alike(y, like)
    condition = constant(condition)
    equal = condition.shape == chosen[0].shape == chosen[1].shape
    return call("Select" if equal else "SelectV2", condition, *chosen)


def _alike(value: TensorLike, like: Tensor | None) -> Tensor:
    return constant(value) if like is None else like.builder.tensor(value, dtype=like.dtype)


def matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    return call("MatMul", a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def add_n(inputs: Sequence[TensorLike]) -> Tensor:
    return call("AddN", *inputs)


def clip_by_value(x: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike) -> Tensor:
    return call("Maximum", call("Minimum", x, clip_value_max), clip_value_min)


def transpose(x: Tensor, perm: TensorLike = None) -> Tensor:
    """The axes in the order `perm`, or reversed."""
    if perm is None:
        perm = list(range(len(list(x.shape))))[::-1]
    return call("Transpose", x, _ints(perm))


def expand_dims(x: TensorLike, axis: int) -> Tensor:
    return call("ExpandDims", x, np.array(axis, np.int32))


def squeeze(x: TensorLike, axis: Axes = None) -> Tensor:
    axes = () if axis is None else tuple(np.atleast_1d(np.array(axis, np.int32)).tolist())
    return call("Squeeze", x, squeeze_dims=axes)


def concat(values: Sequence[TensorLike], axis: int) -> Tensor:
    if len(values) == 1:
        return call("Identity", values[0])
    return call("ConcatV2", *values, np.array(axis, np.int32))


def stack(values: Sequence[TensorLike], axis: int = 0) -> Tensor:
    return call("Pack", *values, axis=axis)


def unstack(value: Tensor, num: int | None = None, axis: int = 0) -> list[Tensor]:
    """The slices along an axis; `num` is needed where that size is not known."""
    count = num if num is not None else list(value.shape)[axis]
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return list(call_many("Unpack", value, num=count, axis=axis))


def gather(params: TensorLike, indices: TensorLike, axis: int = 0) -> Tensor:
    return call("GatherV2", params, indices, np.array(axis, np.int32), batch_dims=0)


def one_hot(
    indices: TensorLike,
    depth: int,
    on_value: TensorLike = 1,
    off_value: TensorLike = 0,
    axis: int = -1,
    dtype: DType | str = "float32",
) -> Tensor:
    values = constant(on_value, dtype), constant(off_value, dtype)
    return call("OneHot", constant(indices), np.array(depth, np.int32), *values, axis=axis)


def range_(start: TensorLike, limit: TensorLike = None, delta: TensorLike = 1) -> Tensor:
    """start, start + delta, … up to limit; one number alone is the limit."""
    ends = (0, start) if limit is None else (start, limit)
    return call("Range", *ends, delta)


def cumsum(x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    at = np.array(axis, np.int32)
    return call("Cumsum", x, at, exclusive=exclusive, reverse=reverse)


def argmax(x: TensorLike, axis: int = 0) -> Tensor:
    return call("ArgMax", x, np.array(axis, np.int32))


def softmax_cross_entropy_with_logits(*, labels: TensorLike, logits: TensorLike) -> Tensor:
    """The loss for each row; its gradient flows to labels and logits (TensorFlow's `_v2`)."""
    return call_many("SoftmaxCrossEntropyWithLogits", logits, labels)[0]


def _ints(values: TensorLike) -> TensorLike:
    return values if isinstance(values, Tensor) else np.array(values, np.int32)
