"""Which tensors hold the gradients, told again after an edit: no more than what the edit changed.

flipped: tensors that a step gives and that none gave before, or the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from gradstep.core.graph.model import TensorRef
from gradstep.core.persistent.edited_columns import Table, difference, places_of
from gradstep.core.persistent.edited_sequence import exchanged, replaced
from gradstep.core.persistent.sequence_places import changed_places, exchanged_keys
from gradstep.core.persistent.spliced_mapping import spliced

_K = TypeVar("_K")
_T = TypeVar("_T")


class _Difference(NamedTuple):
    """Of two mappings. gone: the places in the one of what the other has not, ascending; come: the
    place there that each entry comes before that is new, and its own place in the other; places:
    those in the other of what another tensor holds, or is told otherwise."""

    gone: Sequence[int]
    come: Sequence[tuple[int, int]]
    places: Sequence[int]


def _difference(
    then: Mapping[_K, TensorRef], now: Mapping[_K, TensorRef], flipped: Collection[TensorRef]
) -> _Difference | None:
    """None where many are others, or in another order."""
    found = _known(then, now) or _compared(then, now)
    if found is None or not flipped:
        return found
    held = now.held if isinstance(now, Table) else [*now.values()]
    others = {*places_of(flipped, held)}
    others -= {place for _, place in found.come}
    return found._replace(places=sorted(others.union(found.places))) if others else found


def _known(then: Mapping[_K, TensorRef], now: Mapping[_K, TensorRef]) -> _Difference | None:
    """As the edit said that led from the one to the other; None where none did."""
    if not isinstance(then, Table) or not isinstance(now, Table):
        return None
    keys, held = difference(then.order, now.order), difference(then.held, now.held)
    if keys is None or held is None:
        return None
    new = {place for _, place in keys.come}
    return _Difference(*keys, [place for _, place in held.come if place not in new])


def _compared(then: Mapping[_K, TensorRef], now: Mapping[_K, TensorRef]) -> _Difference | None:
    """The same by a look at all."""
    moved = exchanged_keys(then, now)
    if moved is None:
        return None
    gone, come = moved
    held, there = [*then.values()], [*now.values()]
    before = exchanged(held, gone, [(place, there[place]) for _, place in come])
    places = changed_places(before, there)
    return None if places is None else _Difference(gone, come, places)


def retell_rows(
    told: Sequence[_T],
    then: Mapping[_K, TensorRef],
    now: Mapping[_K, TensorRef],
    tell: Callable[[_K, TensorRef], _T | None],
    flipped: Collection[TensorRef] = (),
) -> Sequence[_T] | None:
    """What `tell` tells of each entry of `now`, where it tells something of each. told: the same of
    `then`. None where all have to be told anew."""
    difference = _difference(then, now, flipped) if len(told) == len(then) else None
    rows = None if difference is None else _rows(now, tell, difference)
    if difference is None or rows is None:
        return None
    found = exchanged(told, difference.gone, [(at, rows[at]) for _, at in difference.come])
    return replaced(found, {place: rows[place] for place in difference.places})


def retell_entries(
    told: dict[str, str],
    then: Mapping[TensorRef, TensorRef],
    now: Mapping[TensorRef, TensorRef],
    tell: Callable[[TensorRef, TensorRef], tuple[str, str] | None],
    flipped: Collection[TensorRef] = (),
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
    found, keys = dict[int, _T](), now.order if isinstance(now, Table) else [*now]
    for place in (*(place for _, place in difference.come), *difference.places):
        row = tell(keys[place], now[keys[place]])
        if row is None:
            return None
        found[place] = row
    return found
