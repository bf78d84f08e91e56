"""Which tensors hold the gradients, told again after an edit: no more than what the edit changed.

flipped: operations of which a step gives an output that none gave before, or the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import compress, count
from operator import itemgetter
from typing import NamedTuple, TypeVar

from gradstep.core.graph.model import TensorRef
from gradstep.core.sequence_places import changed_places, exchange, exchanged_keys
from gradstep.core.spliced_mapping import spliced

_K = TypeVar("_K")
_T = TypeVar("_T")
_OPERATION = itemgetter(0)  # of a TensorRef


class _Difference(NamedTuple):
    """Of two mappings. gone: the places in the one of what the other has not, ascending; come: the
    place there that each entry comes before that is new, and its own place in the other; places:
    those in the other of what another tensor holds, or is told otherwise."""

    gone: Sequence[int]
    come: Sequence[tuple[int, int]]
    places: Sequence[int]


def _difference(
    then: Mapping[_K, TensorRef], now: Mapping[_K, TensorRef], flipped: Collection[str]
) -> _Difference | None:
    """None where many are others, or in another order."""
    moved = exchanged_keys(then, now)
    if moved is None:
        return None
    gone, come = moved
    held, there = [*then.values()], [*now.values()]
    held = exchange(held, gone, [(place, there[place]) for _, place in come])
    places = changed_places(held, there)
    if places is None:
        return None
    if flipped:
        names = map(_OPERATION, there)
        others = [*compress(count(), map(frozenset(flipped).__contains__, names))]
        if others:
            places = sorted({*places, *others}.difference(place for _, place in come))
    return _Difference(gone, come, places)


def retell_rows(
    told: Sequence[_T],
    then: Mapping[_K, TensorRef],
    now: Mapping[_K, TensorRef],
    tell: Callable[[_K, TensorRef], _T | None],
    flipped: Collection[str] = (),
) -> list[_T] | None:
    """What `tell` tells of each entry of `now`, where it tells something of each. told: the same of
    `then`. None where all have to be told anew."""
    difference = _difference(then, now, flipped) if len(told) == len(then) else None
    rows = None if difference is None else _rows(now, tell, difference)
    if difference is None or rows is None:
        return None
    found = exchange(told, difference.gone, [(at, rows[at]) for _, at in difference.come])
    for place in difference.places:
        found[place] = rows[place]
    return found


def retell_entries(
    told: dict[str, str],
    then: Mapping[TensorRef, TensorRef],
    now: Mapping[TensorRef, TensorRef],
    tell: Callable[[TensorRef, TensorRef], tuple[str, str] | None],
    flipped: Collection[str] = (),
) -> dict[str, str] | None:
    """The same of rows that are the entries of a dictionary, one for each key."""
    difference = _difference(then, now, flipped) if len(told) == len(then) else None
    rows = None if difference is None else _rows(now, tell, difference)
    if difference is None or rows is None:
        return None
    names = [*told] if difference.gone else []
    gone = [names[place] for place in difference.gone]
    found = spliced(told, gone, [(at, *rows[place]) for at, place in difference.come])
    found.update(rows[place] for place in difference.places)
    return found


def _rows(
    now: Mapping[_K, TensorRef],
    tell: Callable[[_K, TensorRef], _T | None],
    difference: _Difference,
) -> dict[int, _T] | None:
    """What there is to tell of what is new, and of what is told otherwise, by its place."""
    found, keys = dict[int, _T](), [*now]
    for place in (*(place for _, place in difference.come), *difference.places):
        row = tell(keys[place], now[keys[place]])
        if row is None:
            return None
        found[place] = row
    return found
