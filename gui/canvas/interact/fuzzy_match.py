"""Fuzzy search: letters in order, best where they begin words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

T = TypeVar("T")
LATE = 500  # added to the rank of what something else took the place of
FAR = 1_000  # rank of a match in the description only


def rank(text: str, name: str) -> int | None:
    """How well `text` matches `name`, 0 the best; None if it does not.

    The name itself, its beginning, the beginning of a word in it, a part of it, its letters in
    order; among equals the shorter name.
    """
    wanted, lower = text.lower(), name.lower()
    if not wanted:
        return 0
    if lower == wanted:
        return 0
    if lower.startswith(wanted):
        return 10 + len(name)
    is_part = wanted in lower
    if not is_part and not _in_order(wanted, lower):  # nor does it begin words then
        return None
    if _begins_words(wanted, name, lower):
        return 100 + len(name)
    return (200 if is_part else 300) + len(name)


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


class Searched(NamedTuple):
    """What a thing is found by: its name, other names that mean it, and its description. late:
    something else took its place, so that it comes after all others that are called so."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    late: bool = False


def ranked(
    text: str, things: Iterable[T], searched: Callable[[T], Searched], most: int = 200
) -> list[T]:
    """Those that match, the best first."""
    wanted = text.strip()
    found: list[tuple[int, int, T]] = []
    for order, thing in enumerate(things):
        place = score(wanted, searched(thing))
        if place is not None:
            found.append((place, order, thing))
    return [thing for _, _, thing in sorted(found, key=lambda entry: entry[:2])[:most]]


def score(wanted: str, thing: Searched) -> int | None:
    """How well `wanted` matches a thing, 0 the best; None if it does not. Another name that is
    spelled out counts like the name."""
    names = (rank(wanted, name) for name in (thing.name, *thing.aliases))
    places = [place for place in names if place is not None]
    if places:
        return min(places) + (LATE if thing.late else 0)
    return FAR if wanted.lower() in thing.description.lower() else None
