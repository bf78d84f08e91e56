"""When something is alive: conditions on the values of predicates, simplified as they are made.

A condition is a set of alternatives, each a set of requirements that a predicate has one of its
two values. What one branch of a cond computes and what the other does, taken together, are alive
always: so nothing behind a Merge has to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError

_ON_HOST = (np.ndarray, np.generic, bool, int, type(None))

Requirement = tuple[int, bool]  # the number of a predicate's value, and what it has to be
Condition = frozenset[frozenset[Requirement]]

ALWAYS: Condition = frozenset({frozenset()})
NEVER: Condition = frozenset()
_MOST = 64  # alternatives


def requirement(predicate: int, wanted: bool) -> Condition:
    """That the predicate is `wanted`."""
    return frozenset({frozenset({(predicate, wanted)})})


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Raises GradstepError where that has too many alternatives."""
    found = ALWAYS
    for condition in conditions:
        if condition != found and condition != ALWAYS:
            found = _simplified(a | b for a in found for b in condition)
    return found


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Raises GradstepError where that has too many alternatives."""
    return _simplified(alternative for condition in conditions for alternative in condition)


def predicates(condition: Condition) -> frozenset[int]:
    """The values it asks."""
    return frozenset(predicate for alternative in condition for predicate, _ in alternative)


def on_values(condition: Condition, instead: Mapping[int, int]) -> Condition:
    """The same, asking `instead[v]` in place of value `v`."""
    if instead.keys().isdisjoint(predicates(condition)):
        return condition
    return frozenset(
        frozenset((instead.get(predicate, predicate), wanted) for predicate, wanted in alternative)
        for alternative in condition
    )


def unmet(
    condition: Condition, value: Callable[[int], Any], rank: Callable[[int], int]
) -> Requirement | None:
    """What keeps `condition` from being true; None: it is true, or could never be. rank: when a
    predicate is computed; one that is computed in another's branch is not the reason."""
    missing: list[Requirement] = []
    for alternative in condition:
        in_order = sorted(alternative, key=lambda r: rank(r[0]))
        first = next((r for r in in_order if not _is(value(r[0]), r[1])), None)
        if first is None:
            return None
        missing.append(first)
    return min(missing, key=lambda r: rank(r[0]), default=None)


def holds(condition: Condition, value: Callable[[int], Any]) -> bool:
    """Whether the condition is true."""
    return any(all(_is(value(p), wanted) for p, wanted in alternative) for alternative in condition)


def test_of(condition: Condition, cells: list[Any]) -> Callable[[], bool]:
    """The test of whether it is true of the values in `cells`. What a predicate holds that was not
    computed does not matter: the one whose branch that is in is asked, too, and is not met."""
    if len(condition) == 1 and len(only := next(iter(condition))) == 1:
        ((predicate, wanted),) = only
        return lambda: _is(cells[predicate], wanted)
    return lambda: holds(condition, cells.__getitem__)


def _is(value: Any, wanted: bool) -> bool:
    """A predicate that was not computed does not matter, so None may be anything."""
    if isinstance(value, _ON_HOST):
        return bool(value) is wanted
    return bool(value.item()) is wanted  # on a device, which makes the host wait


def _simplified(alternatives: Iterable[frozenset[Requirement]]) -> Condition:
    """Without alternatives that contradict themselves or say more than another does, and without
    requirements that another alternative makes needless: what is met one way or the other."""
    found: set[frozenset[Requirement]] = set()
    for alternative in alternatives:
        if len({predicate for predicate, _ in alternative}) == len(alternative):
            found.add(alternative)
    while (shorter := _shortened(found)) is not None:
        found = shorter
    if len(found) > _MOST:
        raise GradstepError(
            f"what this needs depends on more than {_MOST} combinations of predicates",
            kind="UnimplementedError",
            hint="merge the branches before using them together",
        )
    return frozenset(found)


def _shortened(
    found: set[frozenset[Requirement]],
) -> set[frozenset[Requirement]] | None:
    for one, other in permutations(found, 2):
        if other <= one:
            return found - {one}
        for predicate, wanted in one:
            rest = one - {(predicate, wanted)}
            if (predicate, not wanted) in other and other - {(predicate, not wanted)} <= rest:
                return found - {one} | {rest}
    return None
