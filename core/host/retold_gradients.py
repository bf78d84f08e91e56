"""Which tensors hold the gradients, told again after an edit: no more than what the edit changed.

flipped: operations of which a step gives an output that none gave before, or the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import compress, count
from operator import itemgetter
from typing import NamedTuple, TypeVar

from gradstep.core.graph.model import TensorRef
from gradstep.core.sequence_places import changed_places

_K = TypeVar("_K")
_T = TypeVar("_T")
_OPERATION = itemgetter(0)  # of a TensorRef
_FEW = 64  # entries, which are looked for one by one


class _Difference(NamedTuple):
    """Of two mappings. gone: the places in the one of what the other has not, the last first;
    renamed, places: those in the other, without these, of another key, and of what another tensor
    holds or has another key."""

    gone: Sequence[int]
    renamed: Sequence[int]
    places: Sequence[int]


def _difference(
    then: Mapping[_K, TensorRef], now: Mapping[_K, TensorRef], flipped: Collection[str]
) -> _Difference | None:
    """None where an entry has come, or many are others."""
    keys, held = [*then], [*then.values()]
    less = then.keys() - now.keys() if len(then) > len(now) else frozenset[_K]()
    if len(less) > _FEW:
        return None
    gone = sorted(map(keys.index, less), reverse=True)
    for place in gone:
        del keys[place], held[place]
    renamed, moved = changed_places(keys, [*now]), changed_places(held, [*now.values()])
    if renamed is None or moved is None:
        return None
    places = {*renamed, *moved}
    if flipped:
        others = map(frozenset(flipped).__contains__, map(_OPERATION, now.values()))
        places.update(compress(count(), others))
    return _Difference(gone, renamed, sorted(places))


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
    return None if difference is None else _retold(told, now, tell, difference)


def retell_entries(
    told: dict[str, str],
    then: Mapping[TensorRef, TensorRef],
    now: Mapping[TensorRef, TensorRef],
    tell: Callable[[TensorRef, TensorRef], tuple[str, str] | None],
    flipped: Collection[str] = (),
) -> dict[str, str] | None:
    """The same of rows that are the entries of a dictionary."""
    difference = _difference(then, now, flipped) if len(told) == len(then) else None
    if difference is None:
        return None
    if difference.gone or difference.renamed:
        rows = _retold([*told.items()], now, tell, difference)
        return None if rows is None else dict(rows)
    found, keys = {**told}, [*now]
    for place in difference.places:
        row = tell(keys[place], now[keys[place]])
        if row is None:
            return None
        found[row[0]] = row[1]
    return found


def _retold(
    told: Sequence[_T],
    now: Mapping[_K, TensorRef],
    tell: Callable[[_K, TensorRef], _T | None],
    difference: _Difference,
) -> list[_T] | None:
    found, keys = [*told], [*now]
    for place in difference.gone:
        del found[place]
    for place in difference.places:
        row = tell(keys[place], now[keys[place]])
        if row is None:
            return None
        found[place] = row
    return found
