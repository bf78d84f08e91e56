"""What does not move while an input is nudged: stopped tensors and wires, and random draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.autodiff.request import GradientRequest
from core.autodiff.widen import widen, widen_array
from core.graph.dtypes import DType, Shape
from core.graph.model import Graph, Operation, TensorRef
from core.ops.table import find

# Runs a graph: (graph, fetches, feeds) -> values. The engine gives one; autodiff knows no engine.
Evaluate = Callable[
    [Graph, Sequence[TensorRef], Mapping[TensorRef, np.ndarray]], Sequence[np.ndarray]
]

Point = Mapping[TensorRef, np.ndarray]


def hold(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point
) -> tuple[Graph, dict[TensorRef, np.ndarray]]:
    """`graph` in float64, and the values to feed it at `point`: besides those given, every
    random draw, and what stopped tensors and wires carry."""
    base = with_draws(evaluate, graph, request, point)
    wide = {ref: widen_array(value) for ref, value in base.items()}
    needed = graph.ancestors(ref.op for ref in request.of)
    return _hold_stopped(evaluate, widen(graph), request, needed, wide)


def with_draws(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point
) -> dict[TensorRef, np.ndarray]:
    """`point`, and what `graph` draws at random on the way to request.of: the same in every run
    that is fed this, whatever its precision."""
    needed = graph.ancestors(ref.op for ref in request.of)
    draws = [op.output() for op in graph if op.name in needed and _draws(op)]
    draws = [ref for ref in draws if ref not in point]
    drawn = evaluate(graph, draws, point) if draws else []
    return {**point, **dict(zip(draws, drawn, strict=True))}


def _draws(op: Operation) -> bool:
    """Whether it draws other numbers in every run."""
    definition = find(op.type)
    return definition is not None and definition.counter and not definition.differentiable


def _hold_stopped(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    needed: set[str],
    base: dict[TensorRef, np.ndarray],
) -> tuple[Graph, dict[TensorRef, np.ndarray]]:
    """`graph` and feeds in which stopped tensors and wires no longer follow their inputs."""
    held = [op.output() for op in graph if op.type == "StopGradient" and op.name in needed]
    held += [ref for ref in request.stops if ref not in request.wrt and ref.op in needed]
    edges = [edge for edge in request.stopped_edges if edge.op in needed]
    sources = [source for edge in edges if (source := graph.source(edge)) is not None]
    values = evaluate(graph, [*held, *sources], base) if held or sources else []
    feeds = {**base, **dict(zip(held, values, strict=False))}
    for edge, value in zip(edges, values[len(held) :], strict=True):
        stand_in = Operation(
            f"held/{edge.op}/{edge.index}",
            "Placeholder",
            attrs={"dtype": DType.of(value.dtype), "shape": Shape(value.shape)},
        )
        op = graph[edge.op]
        inputs = (*op.inputs[: edge.index], stand_in.output(), *op.inputs[edge.index + 1 :])
        graph = Graph.of([stand_in, *(replace(o, inputs=inputs) if o is op else o for o in graph)])
        feeds[stand_in.output()] = value
    return graph, feeds
