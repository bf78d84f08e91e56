"""What was told of a program before, told again of what an edit left as it was."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import count
from typing import Any, Generic, TypeVar

from gradstep.core.graph.changes import common_start

T = TypeVar("T")
Column = Sequence[Any]


class Retold(Generic[T]):
    """A list with one entry for each row of some columns: of a row of the very same objects as
    before the very same entry, wherever it comes now."""

    def __init__(self) -> None:
        self._columns: tuple[Column, ...] = ()
        self._told: list[T] = []

    def tell(self, make: Callable[..., T], *columns: Column) -> list[T]:
        """The entries; those that are new are made of their rows. In C for what stays in line with
        the first or the last row."""
        old, told = self._columns or ((),) * len(columns), self._told
        first = min(map(common_start, old, columns))
        ends = ([c[first:][::-1] for c in each] for each in (old, columns))
        last = min(map(common_start, *ends))
        middle = slice(first, len(columns[0]) - last)
        rows = [*zip(*(column[middle] for column in columns), strict=True)]
        known = self._known_rows(first, last) if rows else {}
        entries = []
        for row in rows:
            place = known.get(tuple(map(id, row)))
            entries.append(make(*row) if place is None else told[place])
        self._columns = columns
        self._told = [*told[:first], *entries, *told[len(told) - last :]]
        return self._told

    def _known_rows(self, first: int, last: int) -> dict[tuple[int, ...], int]:
        """Where the rows in the middle were. What they are made of is held here, so that nothing
        else is called by its number."""
        middle = slice(first, len(self._told) - last)
        numbers = (map(id, column[middle]) for column in self._columns)
        return dict(zip(zip(*numbers, strict=True), count(first), strict=False))


class Told:
    """Retold lists by their names, from one program to the next."""

    def __init__(self) -> None:
        self._before: dict[Hashable, Retold[Any]] = {}
        self._now: dict[Hashable, Retold[Any]] = {}

    def begin(self) -> None:
        """From now on it is another program; what that does not ask for is forgotten."""
        self._before, self._now = self._now, {}

    def tell(self, name: Hashable, make: Callable[..., T], *columns: Column) -> list[T]:
        """See Retold. name: under which it was told before."""
        column = self._now[name] = self._before.get(name) or Retold[T]()
        return column.tell(make, *columns)
