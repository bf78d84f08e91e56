"""Copies of a dictionary, with a few entries put in at their places, and others taken out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from gradstep.core.persistent.arranged_mapping import ArrangedMapping
from gradstep.core.persistent.overlaid_mapping import OverlaidMapping

K = TypeVar("K")
V = TypeVar("V")
_MERGED = 6  # entries are copied, with their hashes, in the time of one that is put in


def copied(entries: Mapping[K, V]) -> dict[K, V]:
    """The same entries in another dictionary. One that something was taken out of is copied as it
    lies: to make a `dict` of it would take seven times as long."""
    if type(entries) is dict or isinstance(entries, OverlaidMapping | ArrangedMapping):
        return entries.copy()
    return dict(entries)


def spliced(
    entries: Mapping[K, V], gone: Iterable[K], come: Sequence[tuple[int, K, V]]
) -> dict[K, V]:
    """The entries in their order without what is gone, and with what has come, which was not among
    them: each before the entry at that place of `entries`, ascending. What lies before the first
    of these places, or behind the last, is put in one by one; all else is copied."""
    near = _count_near(len(entries), [place for place, _, _ in come])
    found = _put_from_start(entries, come[:near]) if near else copied(entries)
    if near < len(come):
        _put_at_end(found, come[near:], len(entries))
    for key in gone:
        del found[key]
    return found


def _count_near(length: int, places: Sequence[int]) -> int:
    """How many of the places to take from the start, and the others from the end."""
    costs = [
        (length // _MERGED + places[near - 1] if near else 0)
        + (length - places[near] if near < len(places) else 0)
        for near in range(len(places) + 1)
    ]
    return costs.index(min(costs))


def _put_from_start(entries: Mapping[K, V], come: Sequence[tuple[int, K, V]]) -> dict[K, V]:
    found, items, done = dict[K, V](), iter(entries.items()), 0
    for place, key, value in come:
        found.update(islice(items, place - done))
        found[key], done = value, place
    found.update(entries)
    return found


def _put_at_end(found: dict[K, V], come: Sequence[tuple[int, K, V]], length: int) -> None:
    """length: how many there were before anything was put in."""
    done = come[0][0]
    keys = [*islice(reversed(found), length - done)][::-1]
    values = [*map(found.pop, keys)]
    rows = zip(keys, values, strict=True)
    for place, key, value in come:
        found.update(islice(rows, place - done))
        found[key], done = value, place
    found.update(rows)
