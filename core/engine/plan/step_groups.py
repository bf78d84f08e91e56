"""Steps that belong together: a forward operation, or all that one forward operation caused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from gradstep.core.graph.foreign_origin import foreign_scopes
from gradstep.core.graph.model import Graph, Operation, Phase


@dataclass(frozen=True, slots=True)
class Group:
    """Steps `start` to `stop` (exclusive). origin: the forward operation, or in the update phase
    the variable, that they belong to."""

    phase: Phase
    origin: str
    start: int
    stop: int


def owner(op: Operation) -> str:
    """The operation that `op` belongs to in the user's eyes; itself in the forward phase."""
    return op.name if op.phase is Phase.FORWARD else op.origin or op.name


def group_steps(
    operations: Sequence[Operation], places: Sequence[int] | None = None
) -> tuple[Group, ...]:
    """Maximal runs of operations of one phase and owner. places: those of the steps, ascending,
    where not all are given."""
    groups: list[Group] = []
    phase, origin, start, stop = Phase.FORWARD, "", 0, -1
    for place, op in zip(places or range(len(operations)), operations, strict=True):
        of = owner(op)
        if place != stop or op.phase is not phase or of != origin:
            if stop >= 0:
                groups.append(Group(phase, origin, start, stop))
            phase, origin, start = op.phase, of, place
        stop = place + 1
    if stop >= 0:
        groups.append(Group(phase, origin, start, stop))
    return tuple(groups)


def whole_groups(groups: Sequence[Group], graph: Graph) -> tuple[Group, ...]:
    """Steps of the user's: groups, but of what one foreign operation was lowered to, with the
    weights right before it, all of one phase that follow each other are one, whose origin is its
    scope."""
    scopes = foreign_scopes(graph)
    if not scopes:
        return (*groups,)
    found: list[Group] = []
    for (scope, phase), members in groupby(groups, lambda g: (scopes.get(g.origin, ""), g.phase)):
        own = [*members]
        found += [Group(phase, scope, own[0].start, own[-1].stop)] if scope else own
    return tuple(found)
