"""A mapping whose order stands beside it: an entry that comes among others moves none of them.

A dictionary is in the order in which it was filled. For an entry near its beginning all that is
behind is put in again, each looked for its place in the table: ten times as long as a copy takes.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, Sequence, ValuesView
from typing import Any, TypeVar

from gradstep.core.persistent.overlaid_mapping import look_up, overlaid

K = TypeVar("K")
V = TypeVar("V")


def overlaid_unordered(entries: Mapping[K, V]) -> MutableMapping[K, V]:
    """`overlaid`, for those who know the order from elsewhere: here it is any."""
    return overlaid(entries.entries if isinstance(entries, ArrangedMapping) else entries)


def look_up_all(entries: Mapping[K, V], keys: Sequence[K]) -> list[V | None]:
    """`look_up`, in a mapping of either kind."""
    return look_up(entries.entries if isinstance(entries, ArrangedMapping) else entries, keys)


class ArrangedMapping(Mapping[K, V]):
    """entries: nobody changes them any more; order: all their keys.

    Who looks up very many takes the method first, which is the dictionary's own.
    """

    def __init__(self, entries: Mapping[K, V], order: Sequence[K]) -> None:
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

    def copy(self) -> dict[K, V]:
        """All entries in their order, in a dictionary of their own; `dict` would take ten times as
        long."""
        return dict(zip(self.order, self.values(), strict=True))

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def items(self) -> ItemsView[K, V]:
        return _Items(self)


class _Values(ValuesView[V]):
    """In C, as those of a dictionary."""

    def __iter__(self) -> Iterator[V]:
        of: ArrangedMapping[Any, V] = self._mapping  # type: ignore[attr-defined]
        return iter(look_up(of.entries, of.order))  # type: ignore[arg-type] # all are there


class _Items(ItemsView[K, V]):
    """Likewise."""

    def __iter__(self) -> Iterator[tuple[K, V]]:
        of: ArrangedMapping[K, V] = self._mapping  # type: ignore[attr-defined]
        return zip(of.order, of.values(), strict=True)
