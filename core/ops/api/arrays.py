"""Functions of `tf` that cut, join and index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.ops.api.creation import Axes, alike, constant, ints
from core.ops.tensor import Tensor, TensorLike, call, call_many


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """`x` where the condition holds, else `y`; Select for equal shapes, SelectV2 to broadcast."""
    like = next((t for t in (x, y) if isinstance(t, Tensor)), None)
    chosen = alike(x, like), alike(y, like)
    condition = constant(condition)
    equal = condition.shape == chosen[0].shape == chosen[1].shape
    return call("Select" if equal else "SelectV2", condition, *chosen)


def transpose(x: Tensor, perm: TensorLike = None) -> Tensor:
    """The axes in the order `perm`, or reversed."""
    if perm is None:
        perm = list(range(len(list(x.shape))))[::-1]
    return call("Transpose", x, ints(perm))


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


FUNCTIONS = {
    "concat": concat,
    "expand_dims": expand_dims,
    "gather": gather,
    "squeeze": squeeze,
    "stack": stack,
    "transpose": transpose,
    "unstack": unstack,
    "where": where,
}
