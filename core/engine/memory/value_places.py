"""Where values lie: of each an offset, and a form that very many have in common."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gradstep.core.persistent.edited_sequence import followed

_NOWHERE = -1
_MOST = 2**62  # bytes, of which no machine has as many: whoever asks for them is refused


class Slot(NamedTuple):
    """`size` bytes from `offset` of the arena, holding an array of this shape and dtype."""

    offset: int
    size: int
    shape: tuple[int, ...]
    dtype: np.dtype


class Form(NamedTuple):
    """What values of one type ask of memory. shape: None if that is not known before running.
    room: `size`, up to where the next value may begin."""

    shape: tuple[int, ...] | None
    dtype: np.dtype
    size: int = 0
    room: int = 0

    def at(self, offset: int) -> Slot:
        """The place of one that begins there, which is of a known shape."""
        return tuple.__new__(Slot, (offset, self.size, self.shape, self.dtype))


class Places:
    """Value -> its place, None where it has none. offsets: of each value, None likewise. A place
    is made when it is asked for: there are as many as values. Those of further values are put
    behind the same numbers, where nobody has put others there."""

    __slots__ = ("_count", "_forms", "_offsets")

    def __init__(self, offsets: Iterable[int | None] = (), forms: Sequence[Form] = ()) -> None:
        bounded = (_NOWHERE if at is None else at if at < _MOST else _MOST for at in offsets)
        self._offsets = array("q", bounded)
        self._forms = forms
        self._count = len(self._offsets)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, value: int) -> Slot | None:
        offset = self._offsets[value]
        return None if offset == _NOWHERE else self._forms[value].at(offset)

    def __iter__(self) -> Iterator[Slot | None]:
        return map(self.__getitem__, range(len(self)))

    def placed(self, first: int) -> Iterator[tuple[int, Slot]]:
        """From value `first` on those that have a place, and that."""
        for value, (offset, form) in enumerate(self._pairs(first), first):
            if offset != _NOWHERE:
                yield value, form.at(offset)

    def and_behind(self, offsets: Iterable[int | None], forms: Sequence[Form]) -> Places:
        """These, and those of further values."""
        found = Places(offsets, forms)
        if len(self):
            own = len(self._offsets) == self._count
            there = self._offsets if own else self._offsets[: self._count]
            there.extend(found._offsets)
            found._offsets, found._forms = there, followed(self._forms, forms)
            found._count += self._count
        return found

    def with_offsets(self, offsets: Mapping[int, int]) -> Places:
        """The same, but for some values, which are moved."""
        found = Places((), self._forms)
        found._offsets, found._count = self._offsets[: self._count], self._count
        for value, offset in offsets.items():
            found._offsets[value] = min(offset, _MOST)
        return found

    def offset(self, value: int) -> int | None:
        """Where one begins."""
        offset = self._offsets[value]
        return None if offset == _NOWHERE else offset

    def are_alike(self, one: int, other: int) -> bool:
        """Whether both have a place, and for the same arrays."""
        there = self._offsets[one] != _NOWHERE != self._offsets[other]
        return there and self._forms[one] == self._forms[other]

    def unplaced(self, first: int) -> list[int]:
        """From value `first` on those that have no place."""
        return [v for v in range(first, len(self)) if self._offsets[v] == _NOWHERE]

    def end(self, first: int) -> int:
        """Behind all from value `first` on."""
        pairs = self._pairs(first)
        return max((at + form.room for at, form in pairs if at != _NOWHERE), default=0)

    def _pairs(self, first: int) -> Iterator[tuple[int, Form]]:
        return zip(self._offsets[first : self._count], self._forms[first:], strict=True)
