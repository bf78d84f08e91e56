"""Steps that belong together: a forward operation, or all that one forward operation caused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import Operation, Phase


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


def whole_at(steps: Sequence[Step], scopes: Mapping[str, str], place: int) -> Group:
    """What the user steps over at once that step number `place` is of: its group, and where it is
    of what one foreign operation was lowered to, all groups of that which follow each other in one
    phase, with the weights right before it; then the origin is its scope. scopes: as
    `foreign_scopes` has them. Costs what is stepped over."""
    op = steps[place].op
    phase, origin = op.phase, owner(op)
    scope = scopes.get(origin, "")

    def belongs(number: int) -> bool:
        other = steps[number].op
        if other.phase is not phase:
            return False
        of = owner(other)
        return scopes.get(of, "") == scope if scope else of == origin

    start, stop = place, place + 1
    while start and belongs(start - 1):
        start -= 1
    while stop < len(steps) and belongs(stop):
        stop += 1
    return Group(phase, scope or origin, start, stop)
