"""Finite differences: what the forward numbers say the gradient is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.autodiff.request import GradientRequest
from core.autodiff.widen import widen, widen_array
from core.graph.dtypes import DType, Shape
from core.graph.model import Graph, Operation, TensorRef

# Runs a graph: (graph, fetches, feeds) -> values. The engine gives one; autodiff knows no engine.
Evaluate = Callable[
    [Graph, Sequence[TensorRef], Mapping[TensorRef, np.ndarray]], Sequence[np.ndarray]
]

Point = Mapping[TensorRef, np.ndarray]

# Central differences in float64: truncation grows as h², rounding as 1/h, so h ~ eps^(1/3).
_STEP = float(np.finfo(np.float64).eps) ** (1 / 3)


@dataclass(frozen=True)
class NumericGradient:
    """value: central differences, float64, shaped like the tensor. low, high: the smaller and
    the larger one-sided difference; they part at a kink, where any value between is right."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def numeric_gradients(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point
) -> dict[TensorRef, NumericGradient]:
    """d(sum of request.of)/dx in float64 for every x of request.wrt, at `point`.

    `point` gives the value of every tensor of `wrt` and everything else that must be fed.
    What the request (or a StopGradient) stops is held at its value, as differentiation does.
    """
    wide = widen(graph)
    base = {ref: widen_array(value) for ref, value in point.items()}
    wide, base = _hold_stopped(evaluate, wide, request, base)
    return {ref: _along(evaluate, wide, request.of, ref, base) for ref in request.wrt}


def _along(
    evaluate: Evaluate, graph: Graph, of: Sequence[TensorRef], x: TensorRef, base: Point
) -> NumericGradient:
    center = base[x]

    def total(value: np.ndarray) -> float:
        return float(sum(np.sum(y) for y in evaluate(graph, of, {**base, x: value})))

    middle = total(center)
    sides = np.empty((2, center.size))
    with np.errstate(all="ignore"):  # at an infinity there is no slope, but NaN
        for i in range(center.size):
            h = _STEP * max(1.0, abs(float(center.flat[i])))
            up, down = _nudged(center, i, h), _nudged(center, i, -h)
            sides[:, i] = (total(up) - middle) / h, (middle - total(down)) / h
    shape = center.shape
    return NumericGradient(
        sides.mean(axis=0).reshape(shape),
        sides.min(axis=0).reshape(shape),
        sides.max(axis=0).reshape(shape),
    )


def _nudged(array: np.ndarray, index: int, by: float) -> np.ndarray:
    copy = array.copy()
    copy.flat[index] += by
    return copy


def _hold_stopped(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, base: Point
) -> tuple[Graph, dict[TensorRef, np.ndarray]]:
    """`graph` and feeds in which stopped tensors and wires no longer follow their inputs."""
    needed = graph.ancestors(ref.op for ref in request.of)
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


def agree(analytic: np.ndarray | None, numeric: NumericGradient) -> np.ndarray:
    """Per element: does `analytic` (None: no gradient) lie where the numbers put it?

    Tolerance: 1e-3 of the larger of the two, and 1e-4 of the largest element (float32's reach).
    """
    if analytic is None:
        return np.asarray(np.abs(numeric.value) <= 1e-9)
    value = np.asarray(analytic, np.float64)
    scale = float(np.max(np.abs(numeric.value), initial=0.0))
    slack = 1e-3 * np.maximum(np.abs(value), np.abs(numeric.value)) + 1e-4 * scale + 1e-9
    inside = (value >= numeric.low - slack) & (value <= numeric.high + slack)
    return np.asarray(inside)
