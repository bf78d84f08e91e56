"""Large arrays of one value (a splat): a view of one element that no shape makes larger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEAST = 1024  # elements; fewer are kept as they are
_CHUNK = 1 << 16  # elements that are compared at once


def splat(value: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """`value`, which is one element, as an array of `shape` that cannot be written to."""
    return np.broadcast_to(value.reshape(()), tuple(shape))


def is_splat(array: np.ndarray) -> bool:
    """Whether `array` is large and a view of one element."""
    return array.size >= LEAST and not any(
        stride for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    )


def element_of(array: np.ndarray) -> np.ndarray:
    """The first element of `array`, which is not empty, as an array without dimensions."""
    return array[(0,) * array.ndim + (...,)]


def fold_splat(array: np.ndarray) -> np.ndarray:
    """A splat with the bits of `array`, where it is large and all its elements are alike; else
    `array` itself."""
    if array.size < LEAST:
        return array
    if not is_splat(array) and not _alike(array):
        return array
    return splat(element_of(array).copy(), array.shape)


def folded_bytes(array: np.ndarray) -> bytes:
    """The bytes of its elements, which are no objects; of a large array of equal elements those of
    one, which is all that it may hold in memory."""
    folded = fold_splat(array)
    return (element_of(folded) if is_splat(folded) else array).tobytes()


def _alike(array: np.ndarray) -> bool:
    """Whether every element has the same bits. Most arrays differ in the first few that are
    compared."""
    flat = _bits(array.reshape(-1))
    if (flat[:: max(1, len(flat) // 8)] != flat[0]).any():
        return False
    return all((flat[i : i + _CHUNK] == flat[0]).all() for i in range(0, len(flat), _CHUNK))


def _bits(flat: np.ndarray) -> np.ndarray:
    """Elements as what is equal where all bits are: a NaN is itself, and -0.0 is not 0.0."""
    if flat.dtype.kind in "OSU":
        return flat
    if flat.dtype.kind == "c":
        return np.ascontiguousarray(flat).view(f"V{flat.dtype.itemsize}")
    return flat.view(f"u{flat.dtype.itemsize}")
