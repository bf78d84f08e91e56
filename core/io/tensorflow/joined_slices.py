"""A tensor that a checkpoint has in slices, put together: all of it, and nothing of it twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from gradstep.core.io.tensorflow.ordered_code import Extent
from gradstep.core.io.tensorflow.sorted_table import damaged

Extents = tuple[Extent, ...]
_Part = TypeVar("_Part")


def join_slices(
    name: str,
    whole: np.ndarray,
    slices: Sequence[Extents],
    find: Callable[[Extents], _Part | None],
    read: Callable[[_Part, Extents, tuple[int, ...]], np.ndarray],
) -> np.ndarray:
    """`whole` with the slices in it. find: a slice, None where it is not there; read: its values,
    of a shape. Raises GradstepError (FileError), and what `read` does."""
    there = np.zeros(whole.shape, np.bool_)
    for extents in slices:
        part = find(extents)
        if part is None:
            raise damaged(f"lacks the part of '{name}' at {slice_words(extents)}")
        place = _place(extents, whole.shape)
        if place is None or there[place].any():
            raise misfit(name)
        whole[place], there[place] = read(part, extents, there[place].shape), True
    if not there.all():
        raise damaged(f"lacks parts of '{name}'")
    return whole


def misfit(name: str) -> Exception:
    """Of slices that cannot be of one tensor."""
    return damaged(f"has parts of '{name}' that do not fit together")


def slice_words(extents: Extents) -> str:
    """`[0:4, :]`."""
    return "[" + ", ".join(f"{at}:{at + n}" if n >= 0 else ":" for at, n in extents) + "]"


def _place(extents: Extents, shape: tuple[int, ...]) -> tuple[slice, ...] | None:
    """Where a part lies in the whole; None for nowhere."""
    if len(extents) != len(shape):
        return None
    ends = [size if n < 0 else at + n for (at, n), size in zip(extents, shape, strict=True)]
    inside = (0 <= at <= end <= n for (at, _), end, n in zip(extents, ends, shape, strict=True))
    starts = (at for at, _ in extents)
    return tuple(map(slice, starts, ends)) if all(inside) else None
