"""A sequence after an edit: of a long one no more is copied than the edit touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, overload

from gradstep.core.persistent.joined_sequence import is_long, joined, put_in
from gradstep.core.persistent.sequence_places import exchange

T = TypeVar("T")


def exchanged(rows: Sequence[T], gone: Sequence[int], come: Sequence[tuple[int, T]]) -> Sequence[T]:
    """`rows` without those in the places `gone`, and with those of `come` at the places that they
    have then; a long sequence shares with `rows` what is not touched."""
    return joined(rows).exchanged(gone, come) if is_long(rows) else exchange(rows, gone, come)


def replaced(rows: Sequence[T], others: Mapping[int, T]) -> Sequence[T]:
    """`rows` with others in some places; a long sequence shares the rest."""
    return joined(rows).replaced(others) if is_long(rows) else put_in(rows, others)


class Growing(Sequence[T]):
    """A sequence that entries are put behind, one by one."""

    def __init__(self, rows: Sequence[T]) -> None:
        self._rows, self._more = rows, list[T]()
        self.append = self._more.append

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...

    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return self.found[place]
        place, first = place + len(self) if place < 0 else place, len(self._rows)
        return self._rows[place] if place < first else self._more[place - first]

    def __len__(self) -> int:
        return len(self._rows) + len(self._more)

    @property
    def found(self) -> Sequence[T]:
        """All that there is so far."""
        return followed(self._rows, self._more)


def followed(rows: Sequence[T], more: Sequence[T]) -> Sequence[T]:
    """The ones, and behind them the others."""
    return joined(rows).followed_by(more) if is_long(rows) else (*rows, *more)
