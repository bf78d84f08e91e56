"""Names that count how often they are compared, for work that must not grow as a square."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from gradstep.core.graph.model import Graph, Operation, TensorRef


class Counted(str):
    """A name. looked_at: comparisons with others, of all such names; the same object costs none."""

    __slots__ = ()
    looked_at = 0

    def __eq__(self, other: object) -> bool:
        Counted.looked_at += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)

    def startswith(self, *given: object) -> bool:
        Counted.looked_at += 1
        return str.startswith(self, *given)  # type: ignore[arg-type]


@contextmanager
def counting() -> Iterator[list[int]]:
    """The number of comparisons meanwhile, once it is over."""
    found: list[int] = []
    before = Counted.looked_at
    yield found
    found.append(Counted.looked_at - before)


def counted(graph: Graph) -> Graph:
    """`graph` under names that count: one object for each, as long as it is the same name."""
    names = {name: Counted(name) for name in graph.operations}
    return Graph.of(_renamed(op, names) for op in graph)


def _renamed(op: Operation, names: Mapping[str, Counted]) -> Operation:
    inputs = tuple([ref and TensorRef(names[ref.op], ref.index) for ref in op.inputs])
    waits = tuple([names[name] for name in op.control_inputs])
    origin = names.get(op.origin, op.origin)
    return replace(op, name=names[op.name], inputs=inputs, control_inputs=waits, origin=origin)
