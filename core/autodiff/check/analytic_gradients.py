"""Values of the gradients that a graph derives, to be compared with numeric ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, evaluate_alive
from gradstep.core.autodiff.check.promote_float64 import widen, widen_array
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of, limits_of
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import infer_declared

_TRIES, _SAFETY = 4, 8.0

Gradients = dict[TensorRef, np.ndarray | None]
Held = Mapping[TensorRef, TensorRef]


def evaluate_gradients(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
    held: Held | None = None,
) -> dict[TensorRef, np.ndarray | None]:
    """Values of the derived gradients at `point`; None where no gradient exists. held: tensor ->
    the tensor of `graph` itself that holds its gradient, where the graph makes them and none are to
    be derived."""
    if held is None:
        derived = differentiate(graph, request, functions)
        graph, held = derived.graph, derived.gradients
    there = [ref for ref in request.wrt if ref in held]
    found = evaluate_alive(evaluate, graph, [held[ref] for ref in there], point)
    return {ref: found.get(held.get(ref, ref)) for ref in request.wrt}


def evaluate_wide_gradients(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
    held: Held | None = None,
) -> Gradients:
    """The same in float64."""
    base = {ref: widen_array(value) for ref, value in point.items()}
    wide, held = _derived_wide(graph, request, functions, held)
    return dict(evaluate_gradients(evaluate, wide, request, base, functions, held))


def _derived_wide(
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    held: Held | None,
) -> tuple[Graph, Held | None]:
    """The graph in float64; where functions of the document's may be asked, with the gradients that
    they make of the graph as it is: their constants may be of its element types."""
    if held is None and functions:
        derived = differentiate(graph, request, functions)
        return widen(derived.graph), derived.gradients
    return widen(graph), held


def estimate_rounding_noise(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
    held: Held | None,
    ref: TensorRef,
) -> np.ndarray:
    """How far the gradient of `ref` moves when every forward value, and every number on the way
    back, moves by what its precision (mostly float32) rounds off."""
    eps = max(float(limits_of(x.dtype).eps) for x in point.values() if kind_of(x.dtype) == "f")
    one = replace(request, wrt=(ref,))
    wide, held = _derived_wide(graph, one, functions, held)
    base = {ref: widen_array(value) for ref, value in point.items()}
    forward = rounded_tensors(wide, request, base)
    whole = {**base, **evaluate_alive(evaluate, wide, forward, base)}
    if held is None:
        derived = differentiate(wide, one, functions)
        graph, held = derived.graph, derived.gradients
    else:
        graph = wide
    holder = held.get(ref)
    if holder is None:
        return np.zeros(point[ref].shape)
    rng = np.random.default_rng(0)
    back = _RoundedBack(evaluate, graph, [*forward, *base], holder, whole)
    points = [whole, *(_shaken(whole, rng, eps) for _ in range(_TRIES))]
    found = [back.gradient(at, rng, eps if number else 0.0) for number, at in enumerate(points)]
    center, *moved = [g for g in found if g is not None]
    offs = np.abs(np.array(moved) - center)
    return np.asarray(_SAFETY * np.max(np.nan_to_num(offs, nan=np.inf), axis=0))


class _RoundedBack:
    """A gradient whose way back is rounded: each tensor on it is multiplied by numbers near 1."""

    def __init__(
        self,
        evaluate: Evaluate,
        graph: Graph,
        known: Sequence[TensorRef],
        holder: TensorRef,
        point: Point,
    ) -> None:
        self._evaluate, self._holder = evaluate, holder
        types = infer_declared(graph).types
        fed, needed = {ref.op for ref in known}, graph.ancestors([holder.op])
        refs = [
            ref
            for ref, kind in types.items()
            if ref.op in needed
            and ref.op not in fed
            and ref != holder
            and kind.dtype is DType.FLOAT64
            and not kind.ref
            and _computes(graph[ref.op])
        ]
        values = evaluate_alive(evaluate, graph, refs, point)
        self._factors: dict[TensorRef, tuple[int, ...]] = {}
        instead: dict[TensorRef, TensorRef] = {}
        made: list[Operation] = []
        for number, (ref, value) in enumerate(values.items()):
            attrs = {"dtype": DType.FLOAT64, "shape": Shape(value.shape)}
            factor = Operation(f"rounding/factor{number}", "Placeholder", attrs=attrs)
            times = Operation(f"rounding/times{number}", "Mul", (ref, factor.output()))
            made += [factor, times]
            instead[ref] = times.output()
            self._factors[factor.output()] = value.shape
        changed = [
            replace(op, inputs=tuple(instead.get(x, x) if x is not None else x for x in op.inputs))
            for op in graph
        ]
        self._graph = Graph.of([*changed, *made])

    def gradient(self, point: Point, rng: np.random.Generator, eps: float) -> np.ndarray | None:
        factors = {
            ref: 1 + eps * rng.choice([-1.0, 1.0], shape) for ref, shape in self._factors.items()
        }
        at = {**point, **{ref: np.asarray(factor) for ref, factor in factors.items()}}
        return evaluate_alive(self._evaluate, self._graph, [self._holder], at).get(self._holder)


def _shaken(values: Point, rng: np.random.Generator, eps: float) -> dict[TensorRef, np.ndarray]:
    def shake(x: np.ndarray) -> np.ndarray:
        return x * (1 + eps * rng.choice([-1.0, 1.0], x.shape)) if kind_of(x.dtype) == "f" else x

    return {ref: np.asarray(shake(x)) for ref, x in values.items()}


def rounded_tensors(graph: Graph, request: GradientRequest, point: Point) -> list[TensorRef]:
    """Floating-point tensors that are computed on the way to `request.of`, in order."""
    types, needed = infer_declared(graph).types, graph.ancestors(ref.op for ref in request.of)
    return [
        ref
        for ref, kind in types.items()
        if ref.op in needed
        and kind.dtype.is_floating
        and not kind.ref
        and ref not in point
        and _computes(graph[ref.op])
    ]


def _computes(op: Operation) -> bool:
    definition = find(op.type)
    return bool(op.inputs) and definition is not None and not definition.state.writes
