"""Values of the gradients that a graph derives, to be compared with numeric ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, evaluate_alive
from gradstep.core.autodiff.check.promote_float64 import widen, widen_array
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
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
    """How far the gradient of `ref` moves when every forward value moves by what its precision
    (mostly float32) rounds off."""
    eps = max(float(limits_of(x.dtype).eps) for x in point.values() if kind_of(x.dtype) == "f")
    wide, held = _derived_wide(graph, replace(request, wrt=(ref,)), functions, held)
    base = {ref: widen_array(value) for ref, value in point.items()}
    forward = _rounded_tensors(wide, request, base)
    whole = {**base, **evaluate_alive(evaluate, wide, forward, base)}
    rng = np.random.default_rng(0)
    points = [whole, *(_shaken(whole, rng, eps) for _ in range(_TRIES))]
    one = replace(request, wrt=(ref,))
    found = [evaluate_gradients(evaluate, wide, one, at, functions, held)[ref] for at in points]
    center, *moved = [g for g in found if g is not None]
    offs = np.abs(np.array(moved) - center)
    return np.asarray(_SAFETY * np.max(np.nan_to_num(offs, nan=np.inf), axis=0))


def _shaken(values: Point, rng: np.random.Generator, eps: float) -> dict[TensorRef, np.ndarray]:
    def shake(x: np.ndarray) -> np.ndarray:
        return x * (1 + eps * rng.choice([-1.0, 1.0], x.shape)) if kind_of(x.dtype) == "f" else x

    return {ref: np.asarray(shake(x)) for ref, x in values.items()}


def _rounded_tensors(graph: Graph, request: GradientRequest, point: Point) -> list[TensorRef]:
    """Floating-point tensors that are computed on the way to `request.of`."""
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
