"""Tensors from outside a loop, brought in to where they are read."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.free_names import unique_name
from gradstep.core.graph.loop import LOOP, Loop, anywhere, crossing_error, loops_around
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import infer_declared


def capture_tensor(graph: Graph, source: TensorRef, reader: str) -> tuple[Graph, TensorRef]:
    """The graph, and what `source` is called where operation `reader` is. Each loop that `reader`
    is in and `source` is not captures it, unless it does so already.

    Raises GradstepError for a `source` that is in a loop that `reader` is not in, that depends on
    the loop it would enter, or of which the type is not known."""
    anywhere(graph, source.op)
    origin, way = loops_around(graph, source.op), loops_around(graph, reader)
    if way[: len(origin)] != origin:
        raise crossing_error(source.op, reader, bool(way))
    for outer in way[len(origin) :]:
        graph, source = _captured(graph, outer, source, f"{reader}/Enter")
    return graph, source


def _captured(graph: Graph, outer: str, source: TensorRef, name: str) -> tuple[Graph, TensorRef]:
    """The same with `source` inside the While `outer`, in a capture that is called `name` if it is
    made now."""
    op = anywhere(graph, outer)
    loop: Loop = op.attrs[LOOP]
    first = len(loop.variables)
    for argument, ref in zip(loop.captures, op.inputs[first:], strict=True):
        if ref == source:
            return graph, TensorRef(argument)
    kind = _type(graph, source)
    name = unique_name(graph, name)
    made = Operation(name, "_Arg", attrs={"T": kind.dtype, "shape": kind.shape, "ref": kind.ref})
    wider = replace(
        loop, graph=Graph({name: made, **loop.graph.operations}), captures=(*loop.captures, name)
    )
    graph = edits.connect(graph, source, Edge(outer, len(op.inputs)))
    return edits.set_attr(graph, outer, LOOP, wider), TensorRef(name)


def _type(graph: Graph, source: TensorRef) -> TensorType:
    kind: TensorType | None = flatten_loop_types(graph, infer_declared(graph)).types.get(source)
    if kind is None:
        raise _unknown(source)
    return kind


def _unknown(source: TensorRef) -> GradstepError:
    return GradstepError(
        f"what '{source.short}' is cannot be told, so no loop can take it in",
        kind="ValueError",
        node=source.op,
        hint=f"mend what is wrong at {source.op} first",
    )
