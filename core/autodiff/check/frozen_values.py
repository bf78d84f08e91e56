"""What finite differences hold still while an input is nudged: stops and random draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.check.frozen_loop_values import find_stops_in_loops, freeze_in_loops
from gradstep.core.autodiff.check.promote_float64 import widen, widen_array
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import find

# Runs a graph: (graph, fetches, feeds) -> values; None for one that is dead, in a branch that was
# not taken. The engine gives one; autodiff knows no engine.
Evaluate = Callable[
    [Graph, Sequence[TensorRef], Mapping[TensorRef, np.ndarray]], Sequence[np.ndarray | None]
]

Point = Mapping[TensorRef, np.ndarray]


def evaluate_alive(
    evaluate: Evaluate, graph: Graph, fetches: Sequence[TensorRef], point: Point
) -> dict[TensorRef, np.ndarray]:
    """The values at `point`, but of what is dead there."""
    values = evaluate(graph, fetches, point) if fetches else []
    pairs = zip(fetches, values, strict=True)
    return {ref: value for ref, value in pairs if value is not None}


def evaluate_all(
    evaluate: Evaluate, graph: Graph, fetches: Sequence[TensorRef], point: Point
) -> list[np.ndarray]:
    """The values at `point`. Raises GradstepError where one is dead."""
    found = evaluate_alive(evaluate, graph, fetches, point)
    for ref in fetches:
        if ref not in found:
            raise GradstepError(
                f"{ref.short} is dead: it is in a branch that is not taken",
                kind="InvalidArgumentError",
                node=ref.op,
                hint="look at it where its branch is taken",
            )
    return [found[ref] for ref in fetches]


def freeze_values(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point
) -> tuple[Graph, dict[TensorRef, np.ndarray]]:
    """`graph` in float64, and the values to feed it at `point`: besides those given, every
    random draw, and what stopped tensors and wires carry."""
    base = add_draws(evaluate, graph, request, point)
    wide = {ref: widen_array(value) for ref, value in base.items()}
    needed = graph.ancestors(ref.op for ref in request.of)
    _require_no_draws_in_loops(graph, needed)
    held, feeds = _hold_stopped(evaluate, widen(graph), request, needed, wide)
    moved = [ref for ref in request.wrt if ref in base]
    return freeze_in_loops(held, find_stops_in_loops(held, request, needed), moved, feeds)


def _require_no_draws_in_loops(graph: Graph, needed: set[str]) -> None:
    """What is drawn in a loop is another value in each iteration: no feed can hold it still."""
    for op in within(graph[name] for name in needed):
        if op.name not in graph and _draws(op):
            raise GradstepError(
                f"'{op.name}' draws random numbers inside a loop, other ones each time, so that "
                "differences of values say nothing of the gradient",
                kind="UnimplementedError",
                node=op.name,
                hint="feed the numbers instead, or write the loop out",
            )


def add_draws(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point
) -> dict[TensorRef, np.ndarray]:
    """`point`, and what `graph` draws at random on the way to request.of: the same in every run
    that is fed this, whatever its precision."""
    needed = graph.ancestors(ref.op for ref in request.of)
    draws = [op.output() for op in graph if op.name in needed and _draws(op)]
    draws = [ref for ref in draws if ref not in point]
    return {**point, **evaluate_alive(evaluate, graph, draws, point)}


def _draws(op: Operation) -> bool:
    """Whether it draws other numbers in every run."""
    definition = find(op.type)
    if definition is None or not definition.state.counter:
        return False
    return not definition.gradient.differentiable


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
    sources = {e: source for e in edges if (source := graph.source(e)) is not None}
    values = evaluate_alive(evaluate, graph, [*dict.fromkeys([*held, *sources.values()])], base)
    feeds = {**base, **{ref: values[ref] for ref in held if ref in values}}
    for edge, source in sources.items():
        if (value := values.get(source)) is None:
            continue
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
