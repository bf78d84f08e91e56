"""What parts two devices: operations that make a difference by one rule, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradstep.core.graph.model import Graph
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
        reached = (graph.descendants(*(row.name for row in makers)) & left) - elsewhere
        left -= reached
        if reached or kind != "rounding":
            explained = tuple(row for row in rows if row.name in reached)
            grown = tuple(_grown(explained))
            found.append(Cause(kind, because, tuple(makers), explained, grown))
    return found


def _kind(row: ComparedNode) -> DifferenceKind | None:
    """Of the difference that a row makes; those of other sources say only that they do."""
    if row.kind:
        return row.kind
    return "unexplained" if row.creates else "rounding" if row.created else None


def _grown(explained: Rows) -> Iterator[tuple[float, str]]:
    factors = ((row.metrics.get("amplification", 0.0), row.name) for row in explained)
    yield from sorted((f for f in factors if f[0] >= _GROWS), reverse=True)[:2]
