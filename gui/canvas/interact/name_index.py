"""Many names, to be found by a few letters, just as `fuzzy_match.ranked` finds them but sooner.

All are looked at together, as one array of letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from gradstep.gui.canvas.interact.fuzzy_match import LETTERS, PART, START, WORDS, rank

_END = "\n"  # behind each name
_NO_MATCH = np.iinfo(np.int64).max
_Found = Iterator[tuple[int, np.ndarray]]  # ranks, before the name's length; which names have it


class NameIndex:
    """The shorter of two names that match alike is the better, the earlier of two as long."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        joined = _END.join([*names, ""])
        self._plain, self._others = np.arange(len(names)), list[int]()
        if not joined.isascii() or joined.count(_END) > len(names):
            is_plain = [name.isascii() and _END not in name for name in names]
            joined = _END.join([*compress(names, is_plain), ""])
            self._plain = np.flatnonzero(is_plain)
            self._others = [place for place, plain in enumerate(is_plain) if not plain]
        letters, small = (np.frombuffer(s.encode(), np.uint8) for s in (joined, joined.lower()))
        self._is_large = letters != small
        self._whole = _Texts(small)
        self._initials = self._find_initials()

    def _find_initials(self) -> _Texts:
        """The letters with which words begin."""
        letters, starts = self._whole.letters, self._is_large.copy()
        for between in f"_/ {_END}".encode():
            starts[1:] |= letters[:-1] == between
        starts[:1] = True
        return _Texts(letters[starts | (letters == ord(_END))])

    def best(self, text: str, most: int) -> list[int]:
        """The places of those that match, the best first, and no more than `most`. text: not
        blank."""
        wanted = text.strip().lower()
        ranks = np.full(len(self._names), _NO_MATCH)
        for place in self._others:
            worth = rank(wanted, self._names[place])
            ranks[place] = _NO_MATCH if worth is None else worth
        best = _least(ranks, most)
        if not wanted.isascii() or _END in wanted:
            return best
        for lowest, find in (0, self._beginning), (WORDS, self._having), (LETTERS, self._in_order):
            if len(best) == most and ranks[best[-1]] < lowest + self._whole.shortest:
                break  # what comes is no better
            for base, found in find(wanted.encode()):
                places = self._plain[found]
                ranks[places] = np.minimum(ranks[places], base + self._whole.sizes[found])
            best = _least(ranks, most)
        return best

    def _beginning(self, wanted: bytes) -> _Found:
        found = self._whole.beginning(wanted)
        yield START, found
        yield -len(wanted), found[self._whole.sizes[found] == len(wanted)]  # it is the name

    def _having(self, wanted: bytes) -> _Found:
        yield WORDS, self._initials.beginning(wanted)
        at = self._whole.places(wanted)
        yield WORDS, self._whole.around(at[self._is_large[at]])
        yield PART, self._whole.around(at)

    def _in_order(self, wanted: bytes) -> _Found:
        yield LETTERS, self._whole.in_order(wanted)


def _least(ranks: np.ndarray, most: int) -> list[int]:
    """The places of the least ranks, in order."""
    places = np.flatnonzero(ranks != _NO_MATCH)
    keys = ranks[places] * len(ranks) + places
    if len(keys) > most:
        keys = np.partition(keys, most - 1)[:most]
    best: list[int] = (np.sort(keys) % max(len(ranks), 1)).tolist()
    return best


class _Texts:
    """Texts in small letters, each with its end behind it."""

    def __init__(self, letters: np.ndarray) -> None:
        self.letters = letters
        self._ends = np.flatnonzero(letters == ord(_END))
        self._starts = np.concatenate([[0], self._ends + 1])[:-1]
        self.sizes = self._ends - self._starts
        self.shortest = int(self.sizes.min(initial=_NO_MATCH))

    def beginning(self, wanted: bytes) -> np.ndarray:
        """The numbers of those that begin so."""
        found = np.arange(len(self._starts))
        for place, letter in enumerate(wanted):  # up to the first end, where none goes on
            found = found[self.letters[self._starts[found] + place] == letter]
        return found

    def places(self, wanted: bytes) -> np.ndarray:
        """Where these letters stand."""
        at = np.flatnonzero(self.letters == wanted[0])
        for place, letter in enumerate(wanted):
            at = at[self.letters[at + place] == letter]
        return at

    def around(self, places: np.ndarray) -> np.ndarray:
        """The numbers of those that these places are in, each once."""
        found = np.searchsorted(self._ends, places)
        return found[np.diff(found, prepend=-1) > 0]

    def in_order(self, wanted: bytes) -> np.ndarray:
        """The numbers of those that have these letters, one somewhere behind the other."""
        found, reached = np.arange(len(self._starts)), self._starts
        for letter in wanted:
            at = np.flatnonzero(self.letters == letter)
            following = np.searchsorted(at, reached)
            at = np.append(at, len(self.letters))[following]
            is_inside = at < self._ends[found]
            found, reached = found[is_inside], at[is_inside] + 1
        return found
