"""Which key of a mapping has a value, found again after an edit from what was known before it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Generic, TypeVar

from gradstep.core.sequence_places import common_ends

K = TypeVar("K")
V = TypeVar("V")
_MUCH = 4  # to one entry that may differ there are so many others, or all are looked at


class InverseMapping(Generic[K, V]):
    """Of each value of `entries` the key that has it; of several the first, or the last. Found when
    it is asked for.

    before: that of another mapping, much the same perhaps: of a value that only stands where the
    two begin alike, or end alike, it knows the key.
    """

    def __init__(
        self,
        entries: Mapping[K, V],
        before: InverseMapping[K, V] | None = None,
        last: bool = False,
    ) -> None:
        self._entries, self._last = entries, last
        self._columns: tuple[list[K], list[V]] = [], []
        self._keys: Mapping[V, K] | None = None  # of all values
        self._unsure: Set[V] | None = None  # values of which that may say something else
        # Of which all keys are known.
        self._known: InverseMapping[K, V] | None = before
        if before is not None and before._keys is None:
            self._known = before._known

    def get(self, value: V) -> K | None:
        """The key of a value; None of one that is not there."""
        if self._keys is None and self._unsure is None:
            self._begin()
        if self._unsure is not None and value in self._unsure:
            self._look_at_all()
        known = self if self._known is None else self._known
        return None if known._keys is None else known._keys.get(value)

    def _begin(self) -> None:
        known = self._known
        if known is None:
            self._look_at_all()
        elif known._entries is self._entries:
            self._keys, self._columns, self._known = known._keys, known._columns, None
        else:
            self._find_unsure(known)

    def _find_unsure(self, known: InverseMapping[K, V]) -> None:
        (keys, values), (keys_then, values_then) = self._list(), known._columns
        ends = common_ends(keys_then, keys), common_ends(values_then, values)
        first, last = map(min, zip(*ends, strict=True))
        then, now = values_then[first : len(values_then) - last], values[first : len(values) - last]
        if _MUCH * (len(then) + len(now)) > len(values):
            self._look_at_all()
        else:
            self._unsure = {*then, *now}

    def _look_at_all(self) -> None:
        keys, values = self._columns = self._list()
        columns = (values, keys) if self._last else (values[::-1], keys[::-1])
        self._keys = dict(zip(*columns, strict=True))
        self._known = self._unsure = None

    def _list(self) -> tuple[list[K], list[V]]:
        return [*self._entries], [*self._entries.values()]
