"""A dictionary with a few entries other than another has, which is not copied for that."""

from __future__ import annotations

from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
    ValuesView,
)
from itertools import chain
from typing import Any, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
_SMALL = 1_000  # entries, which are copied in microseconds
_MANY = 16  # to one that is other there are so many that are not, or all are copied
_NONE: Any = object()  # there is nothing here
_GONE: Any = object()  # nor below


def overlaid(entries: Mapping[K, V]) -> MutableMapping[K, V]:
    """The same entries, to be changed here and there. Nobody may change `entries` from here on: it
    is looked up in what they are. They come in no order."""
    if isinstance(entries, OverlaidMapping):
        if _MANY * len(entries.own) > len(entries.below):
            entries.put_down()
        own = entries.own.copy()  # first; see put_down
        return OverlaidMapping(entries.below, own)
    if len(entries) < _SMALL or not isinstance(entries, dict):
        return dict(entries)
    return OverlaidMapping(entries, {})


def laid_open(entries: MutableMapping[K, V], changes: int) -> MutableMapping[K, V]:
    """The same entries, for who is going to change so many more of them, or to look them up."""
    if not isinstance(entries, OverlaidMapping):
        return entries
    few = _MANY * (len(entries.own) + changes) <= len(entries.below)
    return entries if few else entries.copy()


def has_any(entries: Mapping[K, V], keys: Iterable[K]) -> bool:
    """Whether any of these keys is there; of very many, in C."""
    if not isinstance(entries, OverlaidMapping):
        return any(map(entries.__contains__, keys))
    own, keys = entries.own, [*keys]
    found = chain(*(filter(each.__contains__, keys) for each in (own, entries.below)))
    return any(own.get(key) is not _GONE for key in found)


def look_up(entries: Mapping[K, V], keys: Sequence[K]) -> list[V | None]:
    """What there is for each of very many keys, in C."""
    if not isinstance(entries, OverlaidMapping):
        return [*map(entries.get, keys)]
    own, below = entries.own, entries.below
    found = [*map(own.get, keys, map(below.get, keys))]
    return [None if each is _GONE else each for each in found]


class OverlaidMapping(MutableMapping[K, V]):
    """See `overlaid`. below: what never changes; own: what is there instead, and `_GONE` for what
    is not there any more. An entry is looked up in three times as long as in a dictionary; how many
    there are, and so whether there are any, is counted anew at each look."""

    __slots__ = ("below", "own")

    def __init__(self, below: dict[K, V], own: dict[K, V]) -> None:
        self.below, self.own = below, own

    def __getitem__(self, key: K) -> V:
        found: V = self.own.get(key, _NONE)
        if found is _NONE:
            return self.below[key]
        if found is _GONE:
            raise KeyError(key)
        return found

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: Any) -> Any: ...
    def get(self, key: K, default: Any = None) -> Any:
        found = self.own.get(key, _NONE)
        if found is _NONE:
            return self.below.get(key, default)
        return default if found is _GONE else found

    def __contains__(self, key: Any) -> bool:
        found = self.own.get(key, _NONE)
        return key in self.below if found is _NONE else found is not _GONE

    def __setitem__(self, key: K, value: V) -> None:
        self.own[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        if key in self.below:
            self.own[key] = _GONE
        else:
            del self.own[key]

    def pop(self, key: K, default: Any = _NONE) -> Any:
        found = self.get(key, _NONE)
        if found is not _NONE:
            del self[key]
        elif default is _NONE:
            raise KeyError(key)
        else:
            found = default
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self.copy())

    def __len__(self) -> int:
        own, below = self.own, self.below
        gone = sum(key in below for key, value in own.items() if value is _GONE)
        new = sum(key not in below for key, value in own.items() if value is not _GONE)
        return len(below) - gone + new

    def items(self) -> ItemsView[K, V]:
        return self.copy().items()

    def values(self) -> ValuesView[V]:
        return self.copy().values()

    def put_down(self) -> None:
        """Let all that lies over be below: whoever goes on from here again and again, as after each
        undo, would else copy all each time. Another thread may be looking something up: `own` over
        what is below from here on is the same as before, so whoever reads both reads `own` first.
        """
        self.below = self.copy()
        self.own = {}

    def copy(self) -> dict[K, V]:
        """All entries, in a dictionary of their own."""
        own = self.own
        found = self.below.copy()
        for key, value in own.items():
            if value is _GONE:
                found.pop(key, None)
            else:
                found[key] = value
        return found
