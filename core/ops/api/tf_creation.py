"""Functions of `tf` that make tensors, and how the others here take their arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call

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
    return call("Fill", ints(shape), constant(0, dtype))


def ones(shape: TensorLike, dtype: DType | str = "float32") -> Tensor:
    return call("Fill", ints(shape), constant(1, dtype))


def cast(x: TensorLike, dtype: DType | str) -> Tensor:
    """`x` itself if it is of that type."""
    x, target = constant(x), DType(dtype)
    return x if x.dtype is target else call("Cast", x, DstT=target)


def make_precise(x: Tensor) -> Tensor:
    """In float32 what is too coarse for sums, of squares or of exponentials: float16, bfloat16."""
    return cast(x, DType.FLOAT32) if x.dtype.is_short else x


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


def ints(values: TensorLike) -> TensorLike:
    """A shape or axes as int32."""
    return values if isinstance(values, Tensor) else np.array(values, np.int32)


def alike(value: TensorLike, like: Tensor | None) -> Tensor:
    """`value` as a tensor of the element type of `like`."""
    return constant(value) if like is None else like.builder.tensor(value, dtype=like.dtype)


FUNCTIONS = {
    "cast": cast,
    "constant": constant,
    "convert_to_tensor": convert_to_tensor,
    "one_hot": one_hot,
    "ones": ones,
    "range": range_,
    "zeros": zeros,
}
