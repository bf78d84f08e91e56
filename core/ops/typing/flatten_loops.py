"""A graph with the operations of its loops beside its own, for whoever looks at it.

Not to be run or edited: each argument of an iteration reads here what its While reads in its
place, and nothing says that the next iteration starts with the results of the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.loop import Loop, loop_of, way_to
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import Inference, has_loops, infer_declared
from gradstep.core.ops.typing.loop_types import iteration_types
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes
from gradstep.core.persistent.spliced_mapping import copied

_Types = tuple[TensorType | None, ...]

_OPENED = "opened"  # kept with the graph, so that it goes when that goes; None: the graph itself


def flatten_loops(graph: Graph) -> Graph:
    """`graph` and, after each While, what is in it; the same graph where there is none."""
    if _OPENED not in graph.__dict__:
        operations = [*_opened(graph)] if has_loops(graph) else []
        whole = Graph.of(operations) if len(operations) > len(graph) else None
        graph.__dict__[_OPENED] = whole
    found: Graph | None = graph.__dict__[_OPENED]
    return graph if found is None else found


def flatten_loop_types(graph: Graph, inference: Inference) -> Inference:
    """`inference` of `graph`, and the types of what is in its loops, as far as they are known."""
    if flatten_loops(graph) is graph:
        return inference
    types: dict[str, _Types] = copied(inference.types.of)
    _add_types(types, graph)
    return replace(inference, types=TensorTypes(types))


def original_edge(graph: Graph, edge: Edge) -> Edge:
    """The wire that `edge` of `opened(graph)` is in `graph` or one of its loops: what an argument
    of an iteration reads there is an input of the While."""
    around = way_to(graph, edge.op)
    loop = loop_of(around[-1]) if around else None
    if not around or loop is None or edge.op not in loop.arguments:
        return edge
    return Edge(around[-1].name, loop.arguments.index(edge.op))


def shown_as(graph: Graph, edge: Edge) -> tuple[Edge, ...]:
    """The wires of an opened graph that `original_edge` says are `edge`."""
    loop = loop_of(graph[edge.op]) if edge.op in graph else None
    return (edge,) if loop is None else (edge, Edge(loop.arguments[edge.index], 0))


def _opened(graph: Graph) -> Iterator[Operation]:
    for op in graph:
        yield op
        loop = loop_of(op)
        if loop is not None:
            sources = dict(zip(loop.arguments, op.inputs, strict=False))
            for inner in _opened(loop.graph):
                source = sources.get(inner.name)
                yield inner if source is None else replace(inner, inputs=(source,))


def _add_types(types: dict[str, _Types], graph: Graph) -> None:
    for op in graph:
        loop = loop_of(op)
        if loop is not None:
            known = _types_in(loop, op, types)
            types.update({name: kinds for name, kinds in known.types.of.items() if kinds})
            _add_types(types, loop.graph)


def _types_in(loop: Loop, op: Operation, types: Mapping[str, _Types]) -> Inference:
    """Those of an iteration; where they do not fit together, those that it declares. So it is with
    an argument that nothing comes in for."""
    inside = infer_declared(loop.graph)
    if len(op.inputs) != len(loop.arguments):
        return inside
    try:
        given = [
            inside.types[TensorRef(name)] if kind is None else kind
            for name, kind in zip(loop.arguments, _coming_in(op, types), strict=True)
        ]
        return iteration_types(loop, given).inference
    except (GradstepError, KeyError, IndexError):
        return inside


def _coming_in(op: Operation, types: Mapping[str, _Types]) -> list[TensorType | None]:
    """The types of an operation's inputs; None for one that is open, or not known."""
    return [None if ref is None else types[ref.op][ref.index] for ref in op.inputs]
