"""Another op type in a node's place, or its inputs in another order: its wires stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from gradstep.core.document.declared_types import declared_types
from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import fresh_attrs, lasts
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.loop import anywhere, graph_around, loop_of
from gradstep.core.graph.model import PYTHON_OPS, Edge, Operation, TensorRef
from gradstep.core.ops.declare.table import OpDef, find, lookup
from gradstep.core.ops.typing.input_fit import misfit

Inputs = tuple[TensorRef | None, ...]


def change_type(document: Document, name: str, type: str) -> Document:
    """Put another op type in the place of a node: what it reads and who reads it stay, and so do
    the attributes that both types have. Raises GradstepError where a wire would be lost."""
    op, definition = anywhere(document.graph, name), lookup(type)
    refusal = why_not_type(document, op, definition, declared_types(document))
    if refusal:
        raise GradstepError(
            f"'{name}' cannot become {type}: {refusal}",
            kind="ValueError",
            node=name,
            hint="take the wire off first, or add the new operation beside it",
        )
    inputs = _inputs(op, definition)
    assert inputs is not None  # else it is refused
    graph = edits.retype(document.graph, name, type, inputs, _attrs(op, definition))
    return replace(document, graph=graph)


def why_not_type(
    document: Document, op: Operation, definition: OpDef, types: Mapping[TensorRef, Any]
) -> str:
    """Why a node cannot be of another type and keep its wires; "" where it can. types: of the
    tensors of the graph, and of what is in its loops."""
    if not has_others(op):
        return "the document keeps something for it"
    if not _may_be(definition):
        return "the document keeps something for such an operation"
    inputs = _inputs(op, definition)
    if inputs is None:
        return f"it would lose a wire: {definition.type} has other inputs"
    made = Operation(op.name, definition.type, inputs, attrs=_attrs(op, definition))
    kinds = [None if ref is None else types.get(ref) for ref in inputs]
    for index, kind in enumerate(kinds):
        alone = [kind if i == index else None for i in range(len(kinds))]
        for given in (alone, kinds):
            error = None if kind is None else misfit(made, index, given)
            if error is not None:
                return error.message
    return _lost_output(document, op, definition)


def exchange_inputs(document: Document, name: str) -> Document:
    """Let a node's first two inputs that can be exchanged change places; stops stay on their wires.
    Raises GradstepError where none can."""
    op, types = anywhere(document.graph, name), declared_types(document)
    for pair in pairwise(range(len(op.inputs))) if loop_of(op) is None else ():
        inputs = _exchanged(op.inputs, *pair)
        kinds = [None if ref is None else types.get(ref) for ref in inputs]
        elements = {kind.dtype for index in pair if (kind := kinds[index]) is not None}
        fits = len(elements) < 2 and all(misfit(op, index, kinds) is None for index in pair)
        if fits and inputs != op.inputs:
            graph = edits.retype(document.graph, name, op.type, inputs, op.attrs)
            return _with_stops_exchanged(replace(document, graph=graph), name, *pair)
    raise GradstepError(
        f"no two inputs of '{name}' can be exchanged",
        kind="ValueError",
        node=name,
        hint="it takes two inputs of one element type, of which one is wired",
    )


def _exchanged(inputs: Inputs, first: int, second: int) -> Inputs:
    found = [*inputs]
    found[first], found[second] = found[second], found[first]
    return tuple(found)


def _with_stops_exchanged(document: Document, name: str, first: int, second: int) -> Document:
    other = {first: second, second: first}
    stops = frozenset(
        Edge(name, other.get(edge.index, edge.index)) if edge.op == name else edge
        for edge in document.request.stopped_edges
    )
    return replace(document, request=replace(document.request, stopped_edges=stops))


def has_others(op: Operation) -> bool:
    """Whether an operation could be of another type at all."""
    definition = find(op.type)
    return definition is not None and _may_be(definition) and loop_of(op) is None


def _may_be(definition: OpDef) -> bool:
    """Not what has a value or Python of its own in the document, and no loop."""
    kept = lasts(definition) or definition.type in PYTHON_OPS
    return not kept and definition.type not in ("Const", "While")


def _inputs(op: Operation, definition: OpDef) -> Inputs | None:
    """Those that it has as an operation of another type; None where a wire would be lost."""
    wired: Sequence[TensorRef | None] = op.inputs
    while wired and wired[-1] is None:
        wired = wired[:-1]
    least = len(definition.inputs)
    if len(wired) > least and not definition.lists:
        return None
    count = max(len(wired), least)
    try:
        definition.arity(count)
    except GradstepError:  # as a pair of lists of unlike lengths
        return None
    return (*wired, *[None] * (count - len(wired)))


def _attrs(op: Operation, definition: OpDef) -> dict[str, Any]:
    """Those of the new type, with the values that the operation has for them."""
    before = find(op.type)
    kept = {
        name: value
        for name, value in op.attrs.items()
        if before is not None
        and name in definition.attrs
        and _choices(before, name) == _choices(definition, name)
    }
    return {**fresh_attrs(definition), **kept}


def _choices(definition: OpDef, name: str) -> object:
    return definition.choices.get(name), type(definition.attrs.get(name))


def _lost_output(document: Document, op: Operation, definition: OpDef) -> str:
    """What is read of it that another type does not give."""
    graph = graph_around(document.graph, op.name)
    edges = graph.consumers.get(op.name, ())
    read = {ref.index for edge in edges if (ref := graph.source(edge)) is not None}
    read |= {ref.index for ref in _mentioned(document) if ref.op == op.name}
    given = len(definition.outputs)
    lost = max(read, default=-1)
    if lost < given:
        return ""
    return f"its output {lost} is read, and {definition.type} gives {given or 'none'}"


def _mentioned(document: Document) -> Iterator[TensorRef]:
    """Tensors that the document says something of, beside what reads them."""
    request = document.request
    yield from (*request.of, *request.wrt, *request.stops, *document.fetches)
    yield from (ref for ref in request.grad_ys if ref is not None)
    yield from map(TensorRef.parse, (*document.feeds, *document.columns))
    for one in document.optimizers:
        yield from (*one.of, *one.wrt)
    for thread in document.threads:
        yield from thread.fetches
