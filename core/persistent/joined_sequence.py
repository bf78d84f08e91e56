"""Tuples one behind the other, as one sequence, of which an edit copies the few that it touches.

A tuple of a million entries is copied in ten milliseconds and more: each entry is another place in
memory, which is written to.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, count
from operator import ne
from typing import Any, TypeVar, overload

T = TypeVar("T")
_PART = 1024  # entries, of a part that an edit touches
SHORT = 4096  # entries, which are copied in microseconds, and then looked up in C


def is_long(rows: Sequence[object]) -> bool:
    """Whether an edit makes only parts of it anew."""
    return isinstance(rows, Joined) or len(rows) >= SHORT


def joined(*parts: Sequence[T]) -> Joined[T]:
    """Their entries, one behind the other. Of sequences that are no tuples a copy is made."""
    flat = (x.parts if isinstance(x, Joined) else (x,) for x in parts)
    tuples = (x if isinstance(x, tuple) else tuple(x) for x in chain.from_iterable(flat))
    return Joined([each for each in tuples if each])


def arranged(stretches: Iterable[Sequence[T]]) -> Sequence[T]:
    """The entries of stretches of such sequences, one behind the other."""
    taken = [each for each in stretches if each]
    if not any(isinstance(each, Joined) for each in taken) and sum(map(len, taken)) < SHORT:
        return [*chain.from_iterable(taken)]
    parts = list[tuple[T, ...]]()
    for part in joined(*taken).parts:
        if parts and len(parts[-1]) + len(part) <= _PART:
            parts[-1] += part  # or there would be ever more, ever shorter ones
        else:
            parts.append(part)
    return Joined(parts)


def in_parts(rows: Sequence[T]) -> Sequence[T]:
    """The same entries, of which an edit copies few: short ones as they are."""
    if isinstance(rows, Joined) or not is_long(rows):
        return rows
    return Joined([*_cut(tuple(rows))])


def put_in(rows: Sequence[T], others: Mapping[int, T]) -> list[T]:
    """The same, but for what is in these places; all of it in a list."""
    found = [*rows]
    for place, row in others.items():
        found[place] = row
    return found


class Joined(Sequence[T]):
    """parts: none is empty. An entry is looked up in some times as long as in a tuple; all of them
    are gone through in C."""

    __slots__ = ("_starts", "parts")

    def __init__(self, parts: Sequence[tuple[T, ...]]) -> None:
        self.parts = parts
        self._starts = [*accumulate(map(len, parts), initial=0)]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...

    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return self._slice(place)
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(place)
        part, at = self._where(place)
        return self.parts[part][at]

    def _where(self, place: int) -> tuple[int, int]:
        """In which part an entry is, and where in that."""
        part = bisect_right(self._starts, place) - 1
        return part, place - self._starts[part]

    def _slice(self, places: slice) -> Sequence[T]:
        start, stop, step = places.indices(len(self))
        if step != 1:
            return tuple(self)[places]
        if start >= stop:
            return ()
        first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop) - 1
        head, tail = start - self._starts[first], stop - self._starts[last]
        if first == last:
            return self.parts[first][head:tail]
        found = [*self.parts[first : last + 1]]
        found[0], found[-1] = found[0][head:], found[-1][:tail]
        return Joined(found)

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.parts)

    def __reversed__(self) -> Iterator[T]:
        return chain.from_iterable(map(reversed, reversed(self.parts)))

    def __contains__(self, entry: Any) -> bool:
        return any(entry in part for part in self.parts)

    def index(self, value: Any, *bounds: int) -> int:
        if bounds:
            return tuple(self).index(value, *bounds)
        for part, at in zip(self.parts, self._starts, strict=False):
            if value in part:
                return at + part.index(value)
        raise ValueError(f"{value!r} is not there")

    def count(self, value: Any) -> int:
        return sum(part.count(value) for part in self.parts)

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same entries, and is a tuple, a list or joined."""
        if not isinstance(other, Joined | tuple | list) or len(self) != len(other):
            return False
        return self.common_start(joined(other)) == len(self)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"joined({', '.join(map(repr, self.parts))})"

    def exchanged(self, gone: Sequence[int], come: Iterable[tuple[int, T]]) -> Joined[T]:
        """See `exchange`."""
        came, passed = list[tuple[int, T]](), 0  # for each the place here that it comes before
        for number, (place, row) in enumerate(come):
            while passed < len(gone) and place - number + passed > gone[passed]:
                passed += 1
            came.append((place - number + passed, row))
        if not came and not gone:
            return self
        if not self.parts:
            return joined([row for _, row in came])
        # What comes goes into the part of the entry that is before it.
        split = self._split_at([*gone, *(max(at - 1, 0) for at, _ in came)])
        out, into = defaultdict[int, list[int]](list), defaultdict[int, list[tuple[int, T]]](list)
        for place in gone:
            part, within = split._where(place)
            out[part].append(within)
        for at, row in came:
            part, _ = split._where(max(at - 1, 0))
            into[part].append((at - split._starts[part], row))
        parts: list[Iterable[tuple[T, ...]]] = [(part,) for part in split.parts]
        for number in out.keys() | into.keys():
            parts[number] = _cut(_part_exchanged(split.parts[number], out[number], into[number]))
        return Joined([*chain.from_iterable(parts)])

    def replaced(self, others: Mapping[int, T]) -> Joined[T]:
        """The same, but for what is in these places."""
        if not others:
            return self
        split = self._split_at(others)
        parts = [*split.parts]
        touched = defaultdict[int, dict[int, T]](dict)
        for place, row in others.items():
            part, at = split._where(place)
            touched[part][at] = row
        for number, rows in touched.items():
            parts[number] = tuple(put_in(parts[number], rows))
        return Joined(parts)

    def followed_by(self, more: Sequence[T]) -> Joined[T]:
        """These entries, and behind them others."""
        if not more:
            return self
        if not self.parts or len(self.parts[-1]) + len(more) > _PART:
            return joined(self, more)
        return Joined([*self.parts[:-1], (*self.parts[-1], *more)])

    def common_start(self, other: Joined[T]) -> int:
        """How many entries both begin with that are the same. Parts of both are not looked at."""
        return self._alike(other, back=False)

    def common_ends(self, other: Joined[T]) -> tuple[int, int]:
        """The same, and how many of the others they end with."""
        first = self.common_start(other)
        most = min(len(self), len(other)) - first
        return first, min(self._alike(other, back=True), most)

    def changed_places(self, other: Joined[T], most: int) -> list[int] | None:
        """Where another one of the same length has other entries; None where that is in more places
        than `most`."""
        found = list[int]()
        for at, a, b in self._beside(other, back=False):
            if a != b:
                found += compress(count(at), map(ne, a, b))
                if len(found) > most:
                    return None
        return found

    def _alike(self, other: Joined[T], back: bool) -> int:
        for at, a, b in self._beside(other, back):
            if a != b:
                pairs = map(ne, reversed(a), reversed(b)) if back else map(ne, a, b)
                return at + next(compress(count(), pairs))
        return min(len(self), len(other))

    def _beside(
        self, other: Joined[T], back: bool
    ) -> Iterator[tuple[int, tuple[T, ...], tuple[T, ...]]]:
        """Stretches of both that lie beside each other, in short pieces, and how many entries come
        before, or behind where it is from the back; those of parts that both have are left out."""
        parts = (reversed(self.parts), reversed(other.parts)) if back else (self.parts, other.parts)
        ours, theirs = map(iter, parts)
        a, b, i, j, at = next(ours, ()), next(theirs, ()), 0, 0, 0
        while a and b:
            if a is b and i == j:
                size = len(a) - i
            else:
                size = min(len(a) - i, len(b) - j, _PART)
                yield at, _stretch(a, i, size, back), _stretch(b, j, size, back)
            at, i, j = at + size, i + size, j + size
            if i == len(a):
                a, i = next(ours, ()), 0
            if j == len(b):
                b, j = next(theirs, ()), 0

    def _split_at(self, places: Iterable[int]) -> Joined[T]:
        """The same, of which the parts in which these places are are short."""
        touched = {self._where(place)[0] for place in places}
        if all(len(self.parts[number]) <= 2 * _PART for number in touched):
            return self
        parts = (_cut(p) if n in touched else (p,) for n, p in enumerate(self.parts))
        return Joined([*chain.from_iterable(parts)])


def _cut(part: tuple[T, ...]) -> Iterable[tuple[T, ...]]:
    if 0 < len(part) <= 2 * _PART:
        return (part,)
    return (part[at : at + _PART] for at in range(0, len(part), _PART))


def _stretch(part: tuple[T, ...], start: int, size: int, back: bool) -> tuple[T, ...]:
    """So many entries from `start` on, or before there, where it is counted from the end."""
    start = len(part) - start - size if back else start
    return part[start : start + size]


def _part_exchanged(
    part: tuple[T, ...], gone: Sequence[int], come: Sequence[tuple[int, T]]
) -> tuple[T, ...]:
    """come: each with the place that it comes before."""
    stay = bytearray(b"\1") * len(part)
    for place in gone:
        stay[place] = 0
    found, done = list[T](), 0
    for at, row in come:
        found += compress(part[done:at], stay[done:at])
        found.append(row)
        done = at
    return (*found, *compress(part[done:], stay[done:]))
