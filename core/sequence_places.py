"""Places in which two sequences differ; of messages as of graphs, and loads neither."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count, islice
from operator import is_not

_FEW = 64  # places, which whoever asks looks at one by one


def changed_places(a: Sequence[object], b: Sequence[object]) -> list[int] | None:
    """The few places at which two sequences of one length have other objects, wherever they are;
    None where they are of different lengths, or differ in many places. In C."""
    if len(a) != len(b):
        return None
    found = [*islice(compress(count(), map(is_not, a, b)), _FEW + 1)]
    return None if len(found) > _FEW else found
