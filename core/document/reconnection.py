"""Deleting operations so that what read them reads what they read: a chain stays one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from gradstep.core.document.declared_types import declared_types
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import remove_operations
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.loop import anywhere, loop_of, within
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.build.loop_captures import capture_tensor
from gradstep.core.ops.typing.flatten_loops import (
    flatten_loops,
    original_edge,
)
from gradstep.core.ops.typing.input_fit import why_not

Types = Mapping[TensorRef, TensorType]


def remove_and_reconnect(
    document: Document, names: Collection[str]
) -> tuple[Document, tuple[Edge, ...]]:
    """Remove nodes, and wire what read their first outputs to what they read: to the input that is
    of the output's type, or else the first one of its element type. Returns the document, and the
    inputs that are left open, because nothing fits them. Raises GradstepError as
    `remove_operations` does."""
    types = declared_types(document)
    gone = {op.name for op in within(anywhere(document.graph, name) for name in names)}
    graph, open_ = document.graph, list[Edge]()
    for edge, source in _left_open(document.graph, gone, types).items():
        wired = None if source is None else _wired(graph, source, edge, types)
        graph, open_ = (graph, [*open_, edge]) if wired is None else (wired, open_)
    return remove_operations(replace(document, graph=graph), names), tuple(open_)


def _left_open(graph: Graph, gone: Collection[str], types: Types) -> dict[Edge, TensorRef | None]:
    """Each wire out of what goes to what stays, and what can take the place of its source."""
    shown = flatten_loops(graph)
    found: dict[TensorRef, TensorRef] = {}  # of what goes -> of what stays, where it came from
    wires: dict[Edge, TensorRef | None] = {}
    for name in filter(gone.__contains__, shown.order):
        _trace(shown[name], gone, types, found)
        for edge in shown.consumers[name]:
            source = shown.source(edge)
            if edge.op not in gone and source is not None:
                wires[original_edge(graph, edge)] = found.get(source)
    return wires


def _trace(
    op: Operation, gone: Collection[str], types: Types, found: dict[TensorRef, TensorRef]
) -> None:
    """Find what can stand for the first output of an operation that goes, of a loop for each; those
    before it are found."""
    for index in range(1 if loop_of(op) is None else len(op.inputs)):
        for ref in _candidates(op, index, types):
            source = found.get(ref) if ref.op in gone else ref
            if source is not None:
                found[TensorRef(op.name, index)] = source
                break


def _candidates(op: Operation, index: int, types: Types) -> Iterator[TensorRef]:
    """What an operation reads that can stand for its output `index`, the best first. Of a loop it
    is what the variable starts with."""
    inputs = op.inputs[index : index + 1] if loop_of(op) is not None else op.inputs
    kind = types.get(TensorRef(op.name, index))
    refs = [ref for ref in inputs if ref is not None]
    if kind is None:
        yield from refs[:1]
        return
    kinds = {ref: found for ref in refs if (found := types.get(ref)) is not None}
    alike = [ref for ref in refs if ref in kinds and kinds[ref].dtype is kind.dtype]
    yield from sorted(alike, key=lambda ref: kinds[ref].shape != kind.shape)


def _wired(graph: Graph, source: TensorRef, edge: Edge, types: Types) -> Graph | None:
    """The graph with that wire; None where it does not fit."""
    if why_not(graph, types, source, edge) is not None:
        return None
    try:
        graph, inner = capture_tensor(graph, source, edge.op)
        return edits.connect(graph, inner, edge)
    except GradstepError:
        return None  # out of a loop
