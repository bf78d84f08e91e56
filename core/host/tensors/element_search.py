"""Finding elements: the next one for which a condition holds, the smallest, the largest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors.element_chunks import Array, chunks, is_numeric, real
from gradstep.core.host.tensors.element_condition import Condition, parse_condition
from gradstep.core.host.tensors.element_numbers import extent

_EXTREMES = ("min", "max")


@dataclass(frozen=True, slots=True)
class Found:
    """position: row-major number in the view, -1 for none; number: which of `count` it is, from 1;
    of min and max, `count` is how many elements are as small, or as large."""

    position: int = -1
    number: int = 0
    count: int = 0


def find(view: Array, text: str, start: int, forward: bool) -> Found:
    """The first element after `start` (before it: not `forward`) for which the condition holds; at
    the end it begins again. text: a condition, or "min" or "max", of the finite ones. Raises
    GradstepError for what is no condition, and for a tensor without numbers."""
    if not is_numeric(view):
        raise GradstepError("its elements are no numbers", kind="ExpressionError")
    first = last = before = after = -1
    passed = up_to = count = 0  # hits before `start`, up to it, and all
    for at, hits in _hits(view, _condition(view, text)):
        low, high = (int(np.searchsorted(hits, start - at, side)) for side in ("left", "right"))
        first = at + int(hits[0]) if first < 0 else first
        last = at + int(hits[-1])
        before = at + int(hits[low - 1]) if low else before
        after = at + int(hits[high]) if after < 0 and high < hits.size else after
        passed, up_to, count = passed + low, up_to + high, count + hits.size
    if not count:
        return Found()
    if forward:
        return Found(after, up_to + 1, count) if after >= 0 else Found(first, 1, count)
    return Found(before, passed, count) if before >= 0 else Found(last, count, count)


def _condition(view: Array, text: str) -> Condition:
    word = text.strip().lower()
    if word not in _EXTREMES:
        return parse_condition(text)
    found = extent(view)
    number = np.nan if found is None else found[_EXTREMES.index(word)]
    return lambda x: real(x) == number


def _hits(view: Array, condition: Condition) -> Iterator[tuple[int, Array]]:
    """Of each piece that has some: where it begins, and which of its elements they are."""
    at = 0
    for piece in chunks(view):
        with np.errstate(all="ignore"):
            hits = np.flatnonzero(condition(piece))
        if hits.size:
            yield at, hits
        at += piece.size
