"""Places in which two sequences differ; of messages as of graphs, and loads neither."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import compress, count, islice
from operator import is_not

_FEW = 64  # places, which whoever asks looks at one by one
_STRIDE = 4096  # entries that are compared at once


def changed_places(a: Sequence[object], b: Sequence[object]) -> list[int] | None:
    """The few places at which two sequences of one length have other objects, wherever they are;
    None where they are of different lengths, or differ in many places. In C."""
    if len(a) != len(b):
        return None
    found = [*islice(compress(count(), map(is_not, a, b)), _FEW + 1)]
    return None if len(found) > _FEW else found


def inserted_places(
    a: Sequence[str], b: Sequence[str], gone: Container[str], new: Container[str]
) -> dict[str, int] | None:
    """Where in `b` what is `new` stands, if `b` is `a` without what is `gone` and with that; else
    None, or where more than a few entries come or go. Equal entries are skipped over in C."""
    found: dict[str, int] = {}
    i, j, steps = 0, 0, 0
    while True:
        run = _alike(a, i, b, j)
        i, j, steps = i + run, j + run, steps + 1
        if steps > _FEW:
            return None
        if i < len(a) and a[i] in gone:
            i += 1
        elif j < len(b) and b[j] in new:
            found[b[j]] = j
            j += 1
        else:
            return found if i == len(a) and j == len(b) else None


def _alike(a: Sequence[str], i: int, b: Sequence[str], j: int) -> int:
    """How many entries are equal from `i` and `j` on."""
    start, stride, most = i, _STRIDE, min(len(a) - i, len(b) - j) + i
    while stride:
        stop = min(i + stride, most)
        if a[i:stop] == b[i + j - start : stop + j - start]:
            i = stop
            if i == most:
                break
        else:
            stride //= 2
    return i - start
