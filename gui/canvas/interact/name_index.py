"""Many names, to be found by a few letters, just as `fuzzy_match.ranked` finds them but sooner.

Only those that may be among the best are looked at closely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import compress, repeat
from operator import or_

import numpy as np

from gradstep.gui.canvas.interact.fuzzy_match import PART, START, WORDS, rank

Ranked = tuple[int, int]  # a rank, and the place of a name


class NameIndex:
    """The shorter of two names that match alike is the better: names are looked at by length."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        sizes = np.fromiter(map(len, names), np.int64, len(names))
        order = np.argsort(sizes, kind="stable")
        starts = np.flatnonzero(np.diff(sizes[order], prepend=-1)).tolist()
        places, ends = order.tolist(), [*starts[1:], len(names)]
        parts = (places[start:end] for start, end in zip(starts, ends, strict=False))
        self._by_size = [_OfOneSize(len(names[part[0]]), part, names) for part in parts]

    def best(self, text: str, most: int) -> list[int]:
        """The places of those that match, the best first, and no more than `most`. text: not
        blank."""
        wanted = text.strip().lower()
        found: list[Ranked] = []
        seen: set[int] = set()
        for least, candidates in _PASSES:
            for group in self._by_size:
                if len(found) == most and found[-1][0] < least + group.size:
                    break
                new = [i for i in candidates(group, wanted) if i not in seen]
                seen.update(new)
                found = nsmallest(most, [*found, *self._rank(wanted, new)])
        return [place for _, place in found]

    def _rank(self, wanted: str, places: Iterable[int]) -> Iterator[Ranked]:
        for place in places:
            worth = rank(wanted, self._names[place])
            if worth is not None:
                yield worth, place


class _OfOneSize:
    """The names of one length, and their places among all."""

    def __init__(self, size: int, places: Sequence[int], names: Sequence[str]) -> None:
        self.size, self._places = size, places
        self._names = [*map(names.__getitem__, places)]

    @cached_property
    def _lower(self) -> Sequence[str]:
        return [*map(str.lower, self._names)]

    def starting(self, wanted: str) -> Iterable[int]:
        return compress(self._places, map(str.startswith, self._lower, repeat(wanted)))

    def wording(self, wanted: str) -> Iterable[int]:
        """Of which words may begin with the letters, or with all of it."""
        if not all(map(str.isascii, self._names)):  # where letters have large ones of their own
            return self.having(wanted)
        begins = map(str.startswith, self._lower, repeat(wanted[0]))
        has_large = map(str.__contains__, self._names, repeat(wanted[0].upper()))
        chosen = [*map(or_, begins, has_large)]
        return self._having(
            wanted, [*compress(self._places, chosen)], [*compress(self._lower, chosen)]
        )

    def having(self, wanted: str) -> Iterable[int]:
        """With all of the letters, in whatever order."""
        return self._having(wanted, self._places, self._lower)

    def _having(self, wanted: str, places: Sequence[int], names: Sequence[str]) -> Sequence[int]:
        for letter in {*wanted}:
            has = [*map(str.__contains__, names, repeat(letter))]
            places, names = [*compress(places, has)], [*compress(names, has)]
        return places


# The least rank of what no earlier pass came upon, before the name's length; and what may have it.
_PASSES: Sequence[tuple[int, Callable[[_OfOneSize, str], Iterable[int]]]] = (
    (START, _OfOneSize.starting),
    (WORDS, _OfOneSize.wording),
    (PART, _OfOneSize.having),
)
