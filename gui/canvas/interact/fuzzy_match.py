"""Fuzzy search: letters in order, best where they begin words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from typing import TypeVar

T = TypeVar("T")
START, WORDS, PART, LETTERS = 10, 100, 200, 300  # ranks, before the name's length
LATE = 500  # added to the rank of what something else took the place of
FAR = 1_000  # rank of a match in the description only


def rank(text: str, name: str) -> int | None:
    """How well `text` matches `name`, 0 the best; None if it does not.

    The name itself, its beginning, the beginning of a word in it, a part of it, its letters in
    order; among equals the shorter name.
    """
    return _rank(text.lower(), name, name.lower())


def _rank(wanted: str, name: str, lower: str) -> int | None:
    if lower.startswith(wanted):
        return START + len(name) if wanted and lower != wanted else 0
    is_part = wanted in lower
    if not is_part and not _in_order(wanted, lower):  # nor does it begin words then
        return None
    if _begins_words(wanted, name, lower):
        return WORDS + len(name)
    return (PART if is_part else LETTERS) + len(name)


def _in_order(wanted: str, lower: str) -> bool:
    letters = iter(lower)
    return all(c in letters for c in wanted)


def _begins_words(wanted: str, name: str, lower: str) -> bool:
    """Whether words begin with its letters, the first one among them, or one with all of them."""
    if lower[0] == wanted[0] and _starts(name).startswith(wanted):
        return True
    at = lower.find(wanted)
    while 0 <= at < len(name) and not name[at].isupper():
        at = lower.find(wanted, at + 1)
    return 0 <= at < len(name)


def _starts(name: str) -> str:
    return "".join(
        c for i, c in enumerate(name) if i == 0 or c.isupper() or name[i - 1] in "_/ "
    ).lower()


@dataclass(frozen=True)
class Searched:
    """What a thing is found by: its name, other names that mean it, and its description. late:
    something else took its place, so that it comes after all others that are called so."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    late: bool = False

    @cached_property
    def spelled(self) -> tuple[tuple[str, str], ...]:
        """Its names, as they are and in small letters."""
        return tuple((name, name.lower()) for name in (self.name, *self.aliases))


def ranked(
    text: str, things: Iterable[T], searched: Callable[[T], Searched], most: int = 200
) -> list[T]:
    """Those that match, the best first. searched: costs least where it has answered before."""
    wanted = text.strip().lower()
    found: list[tuple[int, int, T]] = []
    for order, thing in enumerate(things):
        place = _score(wanted, searched(thing))
        if place is not None:
            found.append((place, order, thing))
    return [thing for _, _, thing in nsmallest(most, found)]


def score(wanted: str, thing: Searched) -> int | None:
    """How well `wanted` matches a thing, 0 the best; None if it does not. Another name that is
    spelled out counts like the name."""
    return _score(wanted.lower(), thing)


def _score(wanted: str, thing: Searched) -> int | None:
    best: int | None = None
    for name, lower in thing.spelled:
        place = _rank(wanted, name, lower)
        if place is not None and (best is None or place < best):
            best = place
    if best is not None:
        return best + LATE if thing.late else best
    return FAR if wanted in thing.description.lower() else None
