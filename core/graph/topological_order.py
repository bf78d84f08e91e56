"""The order in which operations can run."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.graph.model import Operation


def predecessors(op: Operation) -> Sequence[str]:
    """Names of the operations that must run before `op`."""
    found = [ref[0] for ref in op.inputs if ref is not None]
    found += op.control_inputs
    return found


def successors(operations: Mapping[str, Operation]) -> dict[str, set[str]]:
    """Names of the operations that must run after each. All that is taken from is among them."""
    found: dict[str, set[str]] = {name: set() for name in operations}
    for op in operations.values():
        for name in predecessors(op):
            found[name].add(op.name)
    return found


def is_ordered(operations: Mapping[str, Operation]) -> bool:
    """Whether no operation comes before one that it needs."""
    passed: set[str] = set()
    for name, op in operations.items():
        for ref in op.inputs:
            if ref is not None and ref.op not in passed and ref.op in operations:
                return False
        if any(other not in passed and other in operations for other in op.control_inputs):
            return False
        passed.add(name)
    return True


def topological(operations: Mapping[str, Operation]) -> tuple[str, ...]:
    """An order in which operations come after what they need, the closest to that of their
    creation. Raises GradstepError on a cycle."""
    return tuple(operations) if is_ordered(operations) else _sorted(operations)


def _sorted(operations: Mapping[str, Operation]) -> tuple[str, ...]:
    rank = {name: i for i, name in enumerate(operations)}
    names = list(operations)
    waiting = {name: {p for p in predecessors(op) if p in rank} for name, op in operations.items()}
    after: dict[str, list[str]] = {name: [] for name in names}
    for name, needs in waiting.items():
        for need in needs:
            after[need].append(name)
    missing = {name: len(needs) for name, needs in waiting.items()}
    ready = [rank[name] for name, count in missing.items() if count == 0]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        name = names[heapq.heappop(ready)]
        order.append(name)
        for follower in after[name]:
            missing[follower] -= 1
            if missing[follower] == 0:
                heapq.heappush(ready, rank[follower])
    if len(order) < len(names):
        raise _cycle_error([name for name in names if missing[name] > 0], waiting)
    return tuple(order)


_LONGEST_LOOP = 12  # operations named in full


def _cycle_error(stuck: list[str], waiting: Mapping[str, set[str]]) -> GradstepError:
    inside, seen = set(stuck), {stuck[0]: 0}
    path = [stuck[0]]
    while True:
        before = min(waiting[path[-1]] & inside)
        path.append(before)
        if before in seen:
            break
        seen[before] = len(seen)
    loop = path[seen[before] :]
    shown = loop if len(loop) <= _LONGEST_LOOP else [*loop[:4], "…", *loop[-3:]]
    return GradstepError(
        "the graph has a cycle: " + " ← ".join(shown),
        kind="InvalidArgumentError",
        node=loop[0],
        hint="remove one of these wires",
    )
