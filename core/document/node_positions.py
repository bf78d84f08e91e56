"""Where nodes stand, as an edit makes it of where they stood.

It copies what it touches, and whoever follows is told that.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.graph.changes import find_others
from gradstep.core.graph.other_keys import are_few, with_other_keys
from gradstep.core.persistent.edited_columns import Table, other_keys, places_of
from gradstep.core.persistent.joined_sequence import SHORT
from gradstep.core.persistent.spliced_mapping import copied

Point = tuple[float, float]
Positions = Mapping[str, Point]
_MANY = 16  # to one that is moved there are so many that stay, or all are put together anew


def moved(positions: Positions, others: Positions) -> Positions:
    """The same with others, those of further nodes behind them."""
    names = [*find_others(positions, others)]
    if not isinstance(positions, Table) or len(names) * _MANY > len(positions):
        found = copied(positions)
        found.update(others)
        return held(found)
    new = [name for name in names if name not in positions]
    come = [(len(positions), name, others[name]) for name in new]
    return positions.edited((), come, {n: others[n] for n in names if n in positions})


def renamed(positions: Positions, names: Mapping[str, str]) -> Positions:
    """The same in the same order, under other names. names: old -> new."""
    if not isinstance(positions, Table) or not are_few(names):
        return held(with_other_keys(positions, names))
    if not positions.keys().isdisjoint(names.values()):
        return held(with_other_keys(positions, names))
    places = positions.order.places
    come = sorted((places[old], new, positions[old]) for old, new in names.items())
    return positions.edited(names.keys(), come, {})


def find_relocated(before: Positions, now: Positions) -> tuple[list[str], list[str]] | None:
    """What may stand elsewhere now, or nowhere before, and what stands nowhere any more, each in
    its order; None where only a look at all can tell."""
    others = other_keys(before, now)
    if not others or not isinstance(before, Table) or not isinstance(now, Table):
        return None if others is None else ([], [])
    there = {name for name in others if name in now}
    gone = [before.order[place] for place in places_of(others - there, before.order)]
    return [now.order[place] for place in places_of(there, now.order)], gone


def held(positions: dict[str, Point]) -> Positions:
    """The same, which nobody changes any more, for who edits it."""
    return positions if len(positions) < SHORT else Table.of(positions)
