"""Named rows with children, one level after the other, made when they are looked at."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import NamedTuple, overload

from gradstep.gui.look.theme import Tone


class Row(NamedTuple):
    """key:     stable identity, by which expansion and selection survive a rebuild.
    detail:  right-aligned remark, drawn in the theme colour named `tone`.
    name:    what the row stands for (an operation's name, an op type); "" for groups and scopes.
    heading: a group of the top level, drawn bold.
    open:    whether its children show at first.
    problem: text of the problem at this row, or "".
    yields:  the detail leaves the label all the room that it needs.
    tip:     tool tip; where there is none, what the model's `describe` says of the name.
    """

    key: str
    label: str
    detail: str = ""
    tone: Tone = "muted"
    name: str = ""
    heading: bool = False
    open: bool = True
    problem: str = ""
    yields: bool = False
    tip: str = ""
    children: Sequence[Row] = ()


def walk(rows: Sequence[Row]) -> Iterator[Row]:
    """Every row, parents before their children."""
    for row in rows:
        yield row
        yield from walk(row.children)


class RowList(Sequence[Row]):
    """The rows of one level, as a tree asks for them: it looks only at those that are seen."""

    @property
    def keys(self) -> Sequence[Hashable]:
        """What each row is known by from one tree to the next."""
        return [(row.key, bool(row.children)) for row in self]

    @property
    def groups(self) -> Sequence[int]:
        """Which rows have children."""
        return [place for place, row in enumerate(self) if row.children]

    def is_group(self, place: int) -> bool:
        return bool(self[place].children)

    def holding(self, names: Collection[str]) -> Iterator[tuple[int, Collection[str]]]:
        """The rows of these names, in order, each with no names; and those in which others may be,
        with these."""
        for place, row in enumerate(self):
            if row.name in names:
                yield place, ()
            elif row.children:
                yield place, names

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return self.make(range(len(self))[place])

    def make(self, place: int) -> Row:
        """The row at a place, counted from 0."""
        raise NotImplementedError


class PlainRows(RowList):
    """Rows that are there."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def make(self, place: int) -> Row:
        return self._rows[place]


def listed(rows: Sequence[Row]) -> RowList:
    return rows if isinstance(rows, RowList) else PlainRows(rows)
