"""What parts two devices: operations that make a difference by one rule, and what comes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.graph.topological_order import predecessors
from gradstep.core.protocol.messages import ComparedNode
from gradstep.core.protocol.vocabulary import DifferenceKind

_ORDER = ("semantics", "unexplained", "rounding")
_GROWS = 1.5  # times, from which it is worth saying that an operation makes a difference larger
Rows = Sequence[ComparedNode]


@dataclass(frozen=True)
class Cause:
    """makers: who makes the difference by itself, in the order of the run. explains: the rows that
    differ and need one of them, or are one, and are no makers of another cause; of causes that come
    before, only what these leave.
    grown: those of `explains` that make what comes in larger: how often, and where; the two
    that do so most."""

    kind: DifferenceKind
    because: str
    makers: tuple[ComparedNode, ...]
    explains: tuple[ComparedNode, ...]
    grown: tuple[tuple[float, str], ...] = ()


def causes_of(rows: Rows, graph: Graph) -> list[Cause]:
    """By kind: semantics first, then what no rule explains, then rounding, which is a cause only
    of what differs."""
    groups: dict[tuple[DifferenceKind, str], list[ComparedNode]] = {}
    for row in rows:
        kind = _kind(row)
        if kind is not None:
            groups.setdefault((kind, row.because), []).append(row)
    left = {row.name for row in rows if row.differs}
    creators = {row.name for row in rows if row.creates}
    found = []
    for (kind, because), makers in sorted(groups.items(), key=lambda g: _ORDER.index(g[0][0])):
        elsewhere = creators - {row.name for row in makers}
        reached = (_needing(graph, {row.name for row in makers}) & left) - elsewhere
        left -= reached
        if reached or kind != "rounding":
            explained = tuple(row for row in rows if row.name in reached)
            grown = tuple(_grown(explained))
            found.append(Cause(kind, because, tuple(makers), explained, grown))
    return found


def _needing(graph: Graph, names: Collection[str]) -> set[str]:
    """These, and all that needs one of them, in loops as well: what goes into a loop reaches all in
    it, what is made in it what the same iteration or a later one makes of it."""
    loops = [op for op in graph if loop_of(op) is not None]
    own = {op.name: _made_in(op, names) for op in loops}
    found = {*graph.descendants(*names, *(name for name, inside in own.items() if inside))}
    for op in loops:
        entered = op.name in found and not found.isdisjoint(predecessors(op))
        found |= {each.name for each in within([op])} if entered else own[op.name]
    return found


def _made_in(op: Operation, names: Collection[str]) -> set[str]:
    """Likewise, of the loop that `op` runs."""
    loop = loop_of(op)
    assert loop is not None
    found = {each.name for each in within(loop.graph)}.intersection(names)
    pairs = [*zip(loop.results, loop.variables, strict=True)]
    count = -1
    while found and len(found) != count:
        count = len(found)
        found = _needing(loop.graph, found)
        found |= {variable for result, variable in pairs if result.op in found}
    return found


def _kind(row: ComparedNode) -> DifferenceKind | None:
    """Of the difference that a row makes; those of other sources say only that they do."""
    if row.kind:
        return row.kind
    return "unexplained" if row.creates else "rounding" if row.created else None


def _grown(explained: Rows) -> Iterator[tuple[float, str]]:
    factors = ((row.metrics.get("amplification", 0.0), row.name) for row in explained)
    yield from sorted((f for f in factors if f[0] >= _GROWS), reverse=True)[:2]
