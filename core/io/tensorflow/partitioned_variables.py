"""Variables that a graph has in parts: `v/part_0`, `v/part_1` are stretches of a checkpoint's `v`.

As tf.get_variable names them where it has a partitioner; slots of the parts are `v/part_0/Adam`,
of which a Saver writes `v/Adam`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

_PART = re.compile(r"(.*)/part_(\d+)(/.*)?")


def whole_name(part: str) -> tuple[str, int] | None:
    """What a Saver calls the tensor that a variable is a part of, and which part; None for a
    variable that is whole by its name."""
    found = _PART.fullmatch(part)
    return None if found is None else (found[1] + (found[3] or ""), int(found[2]))


def whole_names(names: Iterable[str]) -> set[str]:
    """The variables that some of `names` are parts of."""
    return {part[0] for part in map(whole_name, names) if part is not None}


def find_parts(names: Iterable[str], there: Collection[str]) -> dict[str, list[str]]:
    """The variables that are parts of tensors that are `there`, in their order, by the tensor. A
    variable that is there by its own name is whole, and so is one whose fellows are not all
    known."""
    found: dict[str, dict[int, str]] = {}
    for name in names:
        part = whole_name(name)
        if part is not None and name not in there and part[0] in there:
            found.setdefault(part[0], {})[part[1]] = name
    return {
        whole: [parts[i] for i in range(len(parts))]
        for whole, parts in found.items()
        if sorted(parts) == [*range(len(parts))]
    }


def part_slices(
    whole: tuple[int, ...], shapes: list[tuple[int, ...]]
) -> list[tuple[slice, ...]] | None:
    """Where each part lies in the whole: one behind the other along one axis; None where they are
    no parts of it."""
    for axis in range(len(whole)):
        others = {(len(s), s[:axis], s[axis + 1 :]) for s in shapes}
        sizes = [s[axis] for s in shapes if len(s) == len(whole)]
        alike = others == {(len(whole), whole[:axis], whole[axis + 1 :])}
        if alike and sum(sizes) == whole[axis]:
            ends = [0, *accumulate(sizes)]
            before = (slice(None),) * axis
            return [(*before, slice(a, b)) for a, b in pairwise(ends)]
    return None


def joined_parts(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The whole of each variable of which all parts are among `tensors`, by its name: one behind
    the other along the first axis where they fit so, as TensorFlow makes them unless told
    otherwise. Without those that are there by that name."""
    made = {}
    for whole, names in find_parts(tensors, whole_names(tensors) - tensors.keys()).items():
        arrays = [tensors[name] for name in names]
        if (axis := _axis(arrays)) is not None:
            made[whole] = np.concatenate(arrays, axis)
    return made


def _axis(arrays: Sequence[np.ndarray]) -> int | None:
    for axis in range(arrays[0].ndim):
        others = {(a.dtype, a.shape[:axis], a.shape[axis + 1 :], a.ndim) for a in arrays}
        if len(others) == 1:
            return axis
    return None
