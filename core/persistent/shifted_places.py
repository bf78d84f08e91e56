"""The places of names in a list after an edit, by those before it: nobody numbers all of them anew.

An edit that puts an operation, or a step, in moves all that come later. A dictionary of tens of
thousands of names costs a look at each; what is asked for are a few.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

K = TypeVar("K")
_FEW = 64  # that came or went; of more all are numbered
_DEEPEST = 4  # edits in a row; the next one numbers all


def shift_places(
    names: Sequence[K],
    before: Mapping[K, int],
    left: Collection[K],
    entered: Mapping[K, int],
) -> Mapping[K, int]:
    """Operation -> its place in `names`. before: the same of names among which others were, `left`,
    and not those that `entered`, of which these are the places, ascending; what both have comes in
    the same order."""
    deep = before.depth if isinstance(before, ShiftedPlaces) else 0
    if len(left) + len(entered) > _FEW or deep >= _DEEPEST:
        return dict(zip(names, count(), strict=False))
    return ShiftedPlaces(names, before, left, entered, deep + 1)


class ShiftedPlaces(Mapping[K, int]):
    """See `shift_places`. depth: so many of them lie on each other."""

    def __init__(
        self,
        names: Sequence[K],
        before: Mapping[K, int],
        left: Collection[K],
        entered: Mapping[K, int],
        depth: int,
    ) -> None:
        self._names, self._before, self.depth = names, before, depth
        self._left, self._entered = frozenset(left), entered
        self._gone = sorted(map(before.__getitem__, self._left))
        # For each that entered, how many of those that stayed come before it.
        self._stayed = [place - i for i, place in enumerate(entered.values())]

    def __getitem__(self, name: K) -> int:
        found: int | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: K, default: Any = None) -> Any:
        place = self._entered.get(name)
        if place is not None:
            return place
        place = None if name in self._left else self._before.get(name)
        if place is None:
            return default
        place -= bisect_left(self._gone, place)
        return place + bisect_right(self._stayed, place)

    def __contains__(self, name: object) -> bool:
        return name in self._entered or (name not in self._left and name in self._before)

    def __iter__(self) -> Iterator[K]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
