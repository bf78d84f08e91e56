"""Every wire of every example, unplugged and moved to every other output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import gcd

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.edits import connect, disconnect
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from tests.fuzz.case import Case
from tests.fuzz.examples import EXAMPLES, document

_STRIDE = 7919  # neighbours in number are far apart
_EXPORTED = 8  # of so many cases one is exported: that takes as long as all the rest


@cache
def examples() -> list[str]:
    """By size, the small ones first."""
    files = sorted(EXAMPLES.glob("*.gradstep"), key=lambda f: f.stat().st_size)
    return [file.stem for file in files]


def wires(graph: Graph) -> list[Edge]:
    return [Edge(op.name, index) for op in graph for index in range(len(op.inputs))]


def outputs(graph: Graph) -> list[TensorRef]:
    types = infer_declared(graph).types
    return [ref for op in graph for ref in outputs_of(graph, types, op.name)]


@cache
def _ways(example: str) -> tuple[list[Edge], list[TensorRef | None]]:
    """Its wires, and where each may come from; None: from nowhere."""
    graph = document(example).graph
    return wires(graph), [None, *outputs(graph)]


def rewired(document: Document, edge: Edge, source: TensorRef | None) -> Document | None:
    """The document with one wire elsewhere; None where that is refused: it would be a cycle."""
    graph = document.graph
    try:
        changed = disconnect(graph, edge) if source is None else connect(graph, source, edge)
    except GradstepError:
        return None
    return replace(document, graph=changed)


@cache
def _ends() -> list[int]:
    """How many cases the examples have up to each."""
    found, total = [], 0
    for example in examples():
        edges, sources = _ways(example)
        total += len(edges) * len(sources)
        found.append(total)
    return found


def count() -> int:
    return _ends()[-1]


def case(number: int) -> Case | None:
    """Case `number` of `count()`, spread over all examples; None where the move is refused."""
    total = count()
    assert gcd(_STRIDE, total) == 1
    place = number * _STRIDE % total
    at = next(i for i, end in enumerate(_ends()) if place < end)
    place -= _ends()[at - 1] if at else 0
    of = document(examples()[at])
    edges, sources = _ways(examples()[at])
    changed = rewired(of, edges[place // len(sources)], sources[place % len(sources)])
    if changed is None:
        return None
    data = gradstep_file.to_bytes(changed, readable=False)
    return Case(".gradstep", data, exported=number % _EXPORTED == 0)


def moves(example: str) -> Iterator[Document]:
    """All that can be done to the wires of one example."""
    of = document(example)
    edges, sources = _ways(example)
    for edge in edges:
        for source in sources:
            changed = rewired(of, edge, source)
            if changed is not None:
                yield changed
