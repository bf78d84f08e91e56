"""The names that a formula in the op table may use: NumPy's functions, and these few."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.philox import (
    philox_choices,
    philox_integers,
    philox_normal,
    philox_shuffle,
    philox_truncated_normal,
    philox_uniform,
)


def axes(a: Any) -> tuple[int, ...]:
    """Axes as NumPy's reductions take them."""
    return tuple(np.ravel(a).tolist())


def add_all(values: list[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def astype(x: Any, dtype: str) -> Any:
    return np.asarray(x).astype(dtype)


def rows(condition: Any, t: Any) -> Any:
    """A vector of flags lined up with the rows of `t`."""
    condition = np.asarray(condition)
    if condition.ndim == 1 and t.ndim > 1:
        return condition.reshape(-1, *[1] * (t.ndim - 1))
    return condition


def channels(bias: Any, value: Any, data_format: str) -> Any:
    return bias.reshape(-1, *[1] * (value.ndim - 2)) if data_format == "NCHW" else bias


def others(x: Any, data_format: str) -> tuple[int, ...]:
    """All axes but the channels."""
    channel = 1 if data_format == "NCHW" else x.ndim - 1
    return tuple(i for i in range(x.ndim) if i != channel)


def running(cumulate: Any, x: Any, axis: Any, exclusive: bool, reverse: bool, neutral: int) -> Any:
    def along(row: Any) -> Any:
        row = row[::-1] if reverse else row
        row = np.concatenate([[neutral], row[:-1]]) if exclusive else row
        return cumulate(row)[::-1] if reverse else cumulate(row)

    return np.apply_along_axis(along, int(axis), x)


def gather(params: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    if batch_dims:
        pairs = zip(params, indices, strict=True)
        return np.stack([gather(p, i, axis - 1, batch_dims - 1) for p, i in pairs])
    return np.take(params, indices, axis=int(axis))


def rows_of(indices: Any) -> tuple[Any, ...]:
    """Vectors along the last axis, as NumPy's fancy index takes them."""
    return tuple(np.moveaxis(indices, -1, 0))


def scatter(indices: Any, updates: Any, shape: Any) -> Any:
    total = np.zeros(shape, updates.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        total[tuple(indices[place])] += updates[place]
    return total


def segment_sum(data: Any, ids: Any, count: Any) -> Any:
    total = np.zeros((int(count), *data.shape[ids.ndim :]), data.dtype)
    for place in np.ndindex(ids.shape):
        if ids[place] >= 0:
            total[ids[place]] += data[place]
    return total


def one_hot(indices: Any, depth: Any, axis: int) -> Any:
    hit = np.asarray(indices)[..., None] == np.arange(depth)
    return np.moveaxis(hit, -1, axis)


def box(x: Any, begin: Any, size: Any) -> Any:
    pairs = zip(begin.tolist(), size.tolist(), strict=True)
    return x[tuple(slice(b, None if s == -1 else b + s) for b, s in pairs)]


def slices(x: Any, begin: Any, end: Any, strides: Any, masks: dict[str, int]) -> tuple[Any, ...]:
    """Python's index for a strided slice; the negative begin of one element counts from the end."""
    index: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)):
        has = {name.removesuffix("_mask") for name, mask in masks.items() if mask >> i & 1}
        if "ellipsis" in has:
            index.append(Ellipsis)
        elif "new_axis" in has:
            index.append(None)
        elif "shrink_axis" in has:
            index.append(b)
        else:
            index.append(slice(None if "begin" in has else b, None if "end" in has else e, s))
    return tuple(index)


def slices_back(shape: Any, begin: Any, end: Any, strides: Any, masks: Any, dy: Any) -> Any:
    total = np.zeros(shape, dy.dtype)
    total[slices(total, begin, end, strides, masks)] = dy
    return total


def broadcast_axes(s0: Any, s1: Any) -> Any:
    result = np.broadcast_shapes(tuple(s0), tuple(s1))
    padded = (None,) * (len(result) - len(s0)) + tuple(s0)
    return [i for i, (a, b) in enumerate(zip(padded, result, strict=True)) if a != b]


def adam_step(m: Any, beta1: Any, grad: Any, use_nesterov: bool) -> Any:
    new = beta1 * m + (1 - beta1) * grad
    return beta1 * new + (1 - beta1) * grad if use_nesterov else new


NAMES: dict[str, Any] = {
    **{name: getattr(np, name) for name in dir(np) if not name.startswith("_")},
    **{name: f for name, f in list(globals().items()) if callable(f) and name.islower()},
}


def evaluate(formula: str, names: dict[str, Any]) -> Any:
    """The value of `formula`, where `names` are an op's inputs and attributes."""
    masks = {k: v for k, v in names.items() if k.endswith("_mask")}
    return eval(formula, {"__builtins__": {}}, {**NAMES, "masks": masks, **names})
