"""Which key of a mapping has a value, found again after an edit from what was known before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Generic, NamedTuple, TypeVar

from gradstep.core.persistent.sequence_places import common_ends

K = TypeVar("K")
V = TypeVar("V")
_MUCH = 4  # to one entry that may differ there are so many others, or all are looked at


class _Inverse(NamedTuple, Generic[K, V]):
    """Of a mapping: its keys and values, and the key of each value."""

    entries: Mapping[K, V]
    keys: Sequence[K]
    values: Sequence[V]
    key_of: Mapping[V, K]


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
        # Of these, or of a mapping before.
        self._known: _Inverse[K, V] | None = None if before is None else before._known
        self._unsure: Set[V] | None = None  # values of which that may say something else

    def get(self, value: V) -> K | None:
        """The key of a value; None of one that is not there."""
        unsure = self._find_unsure() if self._unsure is None else self._unsure
        known = self._known
        if known is None or unsure is None or value in unsure:
            known, unsure = self._look_at_all(), frozenset()
        self._known, self._unsure = known, unsure
        return known.key_of.get(value)

    def _find_unsure(self) -> Set[V] | None:
        """Values of what differs; None where that is much, or nothing is known."""
        known = self._known
        if known is None:
            return None
        if known.entries is self._entries:
            return frozenset()
        keys, values = [*self._entries], [*self._entries.values()]
        ends = common_ends(known.keys, keys), common_ends(known.values, values)
        first, last = map(min, zip(*ends, strict=True))
        then = known.values[first : len(known.values) - last]
        now = values[first : len(values) - last]
        return None if _MUCH * (len(then) + len(now)) > len(values) else {*then, *now}

    def _look_at_all(self) -> _Inverse[K, V]:
        keys, values = [*self._entries], [*self._entries.values()]
        columns = (values, keys) if self._last else (values[::-1], keys[::-1])
        return _Inverse(self._entries, keys, values, dict(zip(*columns, strict=True)))
