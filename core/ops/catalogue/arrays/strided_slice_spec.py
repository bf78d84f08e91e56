"""TensorFlow's strided-slice specification, translated to a Python index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

Index = tuple[Any, ...]  # of slices, integers and None; one slice or integer for each axis


class Spec(NamedTuple):
    """A strided slice. Bit i of a mask is about entry i: begin or end left out, `...`, a new
    axis, or a single element, whose axis goes."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    strides: tuple[int, ...]
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0


def _require_equal_sizes(spec: Spec) -> None:
    sizes = [len(part) for part in (spec.begin, spec.end, spec.strides)]
    if len(set(sizes)) > 1:
        begin, end, strides = sizes
        raise GradstepError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"[{begin}], [{end}], and [{strides}] instead.",
            hint="give one of each for each axis",
        )


def python_index(dims: Sequence[int | None], spec: Spec) -> Index:
    """The index that cuts `spec` out of an array of sizes `dims` (None: not known yet). Raises
    GradstepError for an element outside, more entries than axes, and parts of unequal lengths."""
    _require_equal_sizes(spec)
    if sum(spec.ellipsis_mask >> i & 1 for i in range(len(spec.begin))) > 1:
        raise GradstepError("Multiple ellipses in slice spec not allowed")
    special = spec.ellipsis_mask | spec.new_axis_mask
    spare = len(dims) - sum(1 for i in range(len(spec.begin)) if not special >> i & 1)
    if spare < 0 and not dims:
        raise GradstepError("Attempting to slice scalar input.", hint="a scalar has no axes")
    if spare < 0:
        raise GradstepError(
            f"Index out of range using input dim {len(dims)}; input has only {len(dims)} dims",
            hint="the slice has more entries than the tensor has axes",
        )
    index: list[Any] = []
    axis = 0
    for i in range(len(spec.begin)):
        part = _entry(spec, i, spare, axis, dims)
        index += part
        axis += sum(1 for entry in part if entry is not None)
    return (*index, *[slice(None)] * (len(dims) - axis))


def _entry(spec: Spec, i: int, spare: int, axis: int, dims: Sequence[int | None]) -> list[Any]:
    bit = 1 << i
    if spec.ellipsis_mask & bit:
        return [slice(None)] * spare
    if spec.new_axis_mask & bit:
        return [None]
    if spec.strides[i] == 0:
        raise GradstepError(f"strides[{i}] must be non-zero", hint="use 1, or -1 to go backwards")
    if spec.shrink_axis_mask & bit:
        if spec.strides[i] < 0:
            raise GradstepError("only stride 1 allowed on non-range indexing.", index=(axis,))
        return [_element(spec.begin[i], dims[axis], axis)]
    begin = None if spec.begin_mask & bit else spec.begin[i]
    end = None if spec.end_mask & bit else spec.end[i]
    return [slice(begin, end, spec.strides[i])]


def _element(at: int, size: int | None, axis: int) -> int:
    if size is not None and not -size <= at < size:
        counted = at + size if at < 0 else at
        raise GradstepError(
            f"slice index {counted} of dimension {axis} out of bounds.",
            index=(axis,),
            hint=f"elements go from {-size} to {size - 1}",
        )
    return at


def cut_shape(dims: Sequence[int | None], index: Index, known: bool = True) -> Shape:
    """Static shape of what `index` cuts out of sizes `dims`. Unless it is `known` where its
    ranges lie, only whole axes have a size."""
    left = iter(dims)
    found: list[int | None] = []
    for part in index:
        if part is None:
            found.append(1)
            continue
        size = next(left)
        if isinstance(part, slice):
            found.append(_length(part, size) if known or part == slice(None) else None)
    return Shape(tuple(found))


def _length(part: slice, size: int | None) -> int | None:
    return None if size is None else len(range(*part.indices(size)))
