"""A mapping whose order stands beside it: an entry that comes among others moves none of them.

A dictionary is in the order in which it was filled. For an entry near its beginning all that is
behind is put in again, each looked for its place in the table: ten times as long as a copy takes.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def copied_unordered(entries: Mapping[K, V]) -> dict[K, V]:
    """The same entries in a dictionary of their own, for who minds no order, or knows it."""
    return entries.entries.copy() if isinstance(entries, ArrangedMapping) else dict(entries)


class ArrangedMapping(Mapping[K, V]):
    """entries: nobody changes them any more; order: all their keys.

    Who looks up very many takes the method first, which is the dictionary's own.
    """

    def __init__(self, entries: dict[K, V], order: tuple[K, ...]) -> None:
        self.entries, self.order = entries, order
        own = ("get", "__getitem__", "__contains__")
        self.__dict__.update((name, getattr(entries, name)) for name in own)

    def __getitem__(self, key: K) -> V:
        return self.entries[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[K]:
        return iter(self.order)

    def __reversed__(self) -> Iterator[K]:
        return reversed(self.order)

    def __len__(self) -> int:
        return len(self.order)

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def items(self) -> ItemsView[K, V]:
        return _Items(self)


class _Values(ValuesView[V]):
    """In C, as those of a dictionary."""

    def __iter__(self) -> Iterator[V]:
        of: ArrangedMapping[Any, V] = self._mapping  # type: ignore[attr-defined]
        return map(of.entries.__getitem__, of.order)


class _Items(ItemsView[K, V]):
    """Likewise."""

    def __iter__(self) -> Iterator[tuple[K, V]]:
        of: ArrangedMapping[K, V] = self._mapping  # type: ignore[attr-defined]
        return zip(of.order, map(of.entries.__getitem__, of.order), strict=True)
