"""Columns and tables that say what an edit made other in them, for all that follow from these.

A sequence of tens of thousands of entries is compared with the one before in milliseconds, for each
entry is another place in memory; and it was compared so by each that follows from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import chain, compress, count
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from gradstep.core.persistent.arranged_mapping import ArrangedMapping, overlaid_unordered
from gradstep.core.persistent.joined_sequence import Joined, in_parts, joined
from gradstep.core.persistent.overlaid_mapping import look_up
from gradstep.core.persistent.shifted_places import shift_places

K = TypeVar("K")
T = TypeVar("T")
V = TypeVar("V")
_AT = itemgetter(0)


class Exchange(NamedTuple):
    """How one sequence differs from another before it. gone: places there of what it has not,
    ascending; come: for each entry that is new the place there that it comes before, and its own;
    both ascending. What is another in its place is gone, and has come."""

    gone: Sequence[int] = ()
    come: Sequence[tuple[int, int]] = ()

    @classmethod
    def of(cls, gone: Sequence[int], before: Iterable[int]) -> Exchange:
        """before: which place each new entry comes before; both ascending."""
        come, passed = list[tuple[int, int]](), 0
        for number, at in enumerate(before):
            while passed < len(gone) and gone[passed] < at:
                passed += 1
            come.append((at, at - passed + number))
        return cls(gone, come)

    @property
    def undone(self) -> Exchange:
        """The exchange that leads from the new sequence to the old."""
        come, passed = list[tuple[int, int]](), 0
        for number, place in enumerate(self.gone):
            while passed < len(self.come) and self.come[passed][0] <= place:
                passed += 1
            come.append((place - number + passed, place))
        return Exchange([place for _, place in self.come], come)

    def and_behind(self, then: int, now: int, other: Exchange) -> Exchange:
        """Of two such sequences, and behind each another: how these differ. then, now: how many the
        first have; other: how the others differ."""
        gone = (*self.gone, *(place + then for place in other.gone))
        return Exchange(gone, (*self.come, *((at + then, i + now) for at, i in other.come)))


NOT_AT_ALL = Exchange()


class Column(Joined[T]):
    """A sequence that knows which one it was before an edit; by a mark of that, which it does not
    keep."""

    _own: object = None
    _earlier: object = None
    _exchange = NOT_AT_ALL
    _places: Mapping[T, int] | None = None
    sources: Sequence[Sequence[T]] = ()  # of which it was joined

    def __init__(self, entries: Iterable[T]) -> None:
        rows = entries if isinstance(entries, Joined) else tuple(entries)
        super().__init__(joined(in_parts(rows)).parts)

    def edited(self, gone: Collection[int], come: Sequence[tuple[int, T]]) -> Column[T]:
        """The column after an edit; this one where that is nothing. gone: see Exchange; come: each
        new entry with the place here that it comes before, ascending. Its places are told from
        those here, if these are known."""
        if not gone and not come:
            return self
        known = Exchange.of(sorted(gone), map(_AT, come))
        rows = [row for _, row in come]
        entries = [(place, row) for (_, place), row in zip(known.come, rows, strict=True)]
        found = Column(self.exchanged(known.gone, entries))
        self._own = self._own or object()
        found._earlier, found._exchange = self._own, known
        left = {self[place] for place in known.gone}
        if self._places is not None and self._stays_distinct(left, rows):
            entered = {row: place for place, row in entries}
            found._places = shift_places(found, self._places, left, entered)
        return found

    @property
    def places(self) -> Mapping[T, int]:
        """Of each entry its place; of one that is there several times, one of them."""
        if self._places is None:
            self._places = dict(zip(self, count(), strict=False))
        return self._places

    def number(self) -> None:
        """Let the places in what an edit makes of it be told from those here."""
        self._places = self.places

    @property
    def is_distinct(self) -> bool:
        """Whether nothing is there twice."""
        return len(self.places) == len(self)

    def _stays_distinct(self, left: Collection[T], rows: Sequence[T]) -> bool:
        there = self.places
        anew = all(row in left or row not in there for row in rows)
        return anew and self.is_distinct and len({*rows}) == len(rows)

    def since(self, before: Sequence[T]) -> Exchange | None:
        """How it differs from `before`; None where that is not known."""
        if before is self:
            return NOT_AT_ALL
        if not isinstance(before, Column) or before._own is None:
            return None
        return self._exchange if before._own is self._earlier else None


def difference(before: Sequence[T], now: Sequence[T]) -> Exchange | None:
    """How two sequences differ; None where that is not known, and they are not equal either."""
    known = now.since(before) if isinstance(now, Column) else None
    return NOT_AT_ALL if known is None and before == now else known


def places_of(rows: Collection[T], column: Sequence[T]) -> list[int]:
    """Where any of these stand, ascending."""
    if not rows:
        return []
    if isinstance(column, Column) and column.is_distinct:
        places = column.places
        return sorted(places[row] for row in rows if row in places)
    return [*compress(count(), map(frozenset(rows).__contains__, column))]


def joined_once(parts: Sequence[Sequence[T]], before: Sequence[T]) -> Column[T]:
    """The entries of all parts, one after the other, each once. before: the same of other parts,
    from which this may go on."""
    found = _joined_again(parts, before) if isinstance(before, Column) else None
    if found is None:
        found = Column(dict.fromkeys(chain.from_iterable(parts)))
    found.sources = parts
    return found


def _joined_again(parts: Sequence[Sequence[T]], before: Column[T]) -> Column[T] | None:
    """None where it is not known how the parts differ, or one entry is in several places."""
    then = before.sources
    if len(then) != len(parts) or sum(map(len, then)) != len(before):
        return None
    gone, come, length = list[int](), list[tuple[int, T]](), 0
    for old, new in zip(then, parts, strict=True):
        known = difference(old, new)
        if known is None:
            return None
        gone += [place + length for place in known.gone]
        come += [(at + length, new[place]) for at, place in known.come]
        length += len(old)
    before.number()
    found = before.edited(gone, come)
    return found if found.is_distinct else None


class Table(ArrangedMapping[K, V]):
    """A mapping in the order of `keys`, of which `held` are the values. entries: the same; nobody
    changes them any more."""

    def __init__(self, keys: Column[K], held: Column[V], entries: Mapping[K, V]) -> None:
        super().__init__(entries, keys)
        self.order: Column[K] = keys
        self.held = held

    @classmethod
    def of(cls, entries: dict[K, V]) -> Table[K, V]:
        return cls(Column(entries), Column(entries.values()), entries)

    def values(self) -> ValuesView[V]:
        return _Held(self)

    def __eq__(self, other: object) -> bool:
        """As of any mapping, whatever their orders; in C, and of what one is known to have
        otherwise than the other no more is looked at."""
        if not isinstance(other, Mapping) or len(self) != len(other):
            return self is other
        if isinstance(other, Table):
            others = other_keys(other, self)
            if others is not None:
                return all(k in self and k in other and self[k] == other[k] for k in others)
            if self.order == other.order:
                return self.held == other.held
        keys = [*other]
        there = look_up(self.entries, keys) == [*other.values()]
        return there and all(map(self.__contains__, keys))

    def edited(
        self, gone: Collection[K], come: Sequence[tuple[int, K, V]], others: Mapping[K, V]
    ) -> Table[K, V]:
        """The table after an edit. gone: keys; come: see Column; others: of keys that stay, the
        values that are others."""
        places = self.order.places
        went = sorted(map(places.__getitem__, gone)) if gone else []
        changed = [(places[key], value) for key, value in others.items()]
        rows = sorted([*((at, value) for at, _, value in come), *changed], key=_AT)
        keys = self.order.edited(went, [(at, key) for at, key, _ in come])
        held = self.held.edited([*went, *map(_AT, changed)], rows)
        entries = overlaid_unordered(self)
        for key in gone:
            del entries[key]
        entries.update((key, value) for _, key, value in come)
        entries.update(others)
        return Table(keys, held, entries)


class _Held(ValuesView[V]):
    def __iter__(self) -> Iterator[V]:
        table: Table[Any, V] = self._mapping  # type: ignore[attr-defined]
        return iter(table.held)


def other_keys(before: Mapping[K, V], now: Mapping[K, V]) -> set[K] | None:
    """The keys that only one of two mappings has, and those that have other values; None where that
    is not known: neither was made of the other by one edit."""
    if before is now:
        return set()
    if not isinstance(before, Table) or not isinstance(now, Table):
        return None
    found = _other_keys(before, now)
    return _other_keys(now, before) if found is None else found


def _other_keys(before: Table[K, V], now: Table[K, V]) -> set[K] | None:
    keys, held = difference(before.order, now.order), difference(before.held, now.held)
    if keys is None or held is None:
        return None
    here = {now.order[place] for _, place in (*keys.come, *held.come)}
    return here.union(before.order[place] for place in (*keys.gone, *held.gone))
