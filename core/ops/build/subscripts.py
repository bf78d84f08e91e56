"""`x[1:, None, ..., i]` while a graph is built: the StridedSlice that TensorFlow makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

if TYPE_CHECKING:
    from gradstep.core.ops.build.tensor import Tensor

_SLICE = tuple[Any, Any, Any]  # begin, end, stride


def slice_tensor(x: Tensor, index: Any) -> Tensor:
    """`x[index]`. Raises TypeError for what is no index."""
    parts = index if isinstance(index, tuple) else (index,)
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    spec: list[_SLICE] = []
    for number, part in enumerate(parts):
        entry, marks = _entry(part)
        spec.append(entry)
        for mark in marks:
            masks[mark] |= 1 << number
    attrs = {f"{name}_mask": bits for name, bits in masks.items()}
    ends = [_vector(x, [entry[i] for entry in spec]) for i in range(3)]
    return x.builder.one("StridedSlice", x, *ends, name="strided_slice", **attrs)


def _entry(part: Any) -> tuple[_SLICE, tuple[str, ...]]:
    """Begin, end and stride of one part of an index, and the masks it sets."""
    if part is Ellipsis:
        return (0, 0, 1), ("ellipsis",)
    if part is None:
        return (0, 0, 1), ("new_axis",)
    if isinstance(part, slice):
        marks = [name for name, end in (("begin", part.start), ("end", part.stop)) if end is None]
        begin, end = (0 if end is None else _whole(end) for end in (part.start, part.stop))
        return (begin, end, 1 if part.step is None else _whole(part.step)), tuple(marks)
    at = _whole(part)
    return (at, at + 1, 1), ("shrink_axis",)


def _whole(value: Any) -> Any:
    """A whole number, or a tensor of one."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool | np.ndarray):
        return value.__index__()
    if hasattr(value, "builder") and value.dtype.is_integer:
        return value
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}"
    )


def _vector(x: Tensor, values: list[Any]) -> Tensor:
    """Numbers as a constant; where one is a tensor, all of them packed."""
    if all(isinstance(value, int) for value in values):
        return x.builder.constant(np.array(values, np.int32))
    kind = next(value.dtype for value in values if not isinstance(value, int))
    parts = [np.array(v, kind.numpy) if isinstance(v, int) else v for v in values]
    return x.builder.one("Pack", *parts, axis=0)
