"""Gradient checks of any tensors of any graph, and of the gradients themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradstep.core.autodiff.check.analytic_gradients import (
    Held,
    estimate_rounding_noise,
    evaluate_gradients,
    evaluate_wide_gradients,
)
from gradstep.core.autodiff.check.check_result import CheckResult, judge
from gradstep.core.autodiff.check.finite_differences import NumericGradient, measure_gradients
from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, add_draws
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.build.builder import GraphBuilder


@dataclass(frozen=True)
class Examined:
    """own: the gradient as the graph computes it, None where there is none; gradient: the same in
    float64; numeric: what the numbers say; finding: what comes of it."""

    own: np.ndarray | None
    gradient: np.ndarray | None
    numeric: NumericGradient
    finding: CheckResult


def examine(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
    most: int = 0,
    held: Held | None = None,
) -> dict[TensorRef, Examined]:
    """Every tensor of request.wrt, at `point` (see measure_gradients, also for `most`). held: see
    evaluate_gradients. Raises GradstepError where the gradient cannot be computed."""
    point = add_draws(evaluate, graph, request, point)
    own = evaluate_gradients(evaluate, graph, request, point, functions, held)
    narrow = any(kind_of(value.dtype) == "f" and value.itemsize < 8 for value in point.values())
    wide = (
        evaluate_wide_gradients(evaluate, graph, request, point, functions, held) if narrow else own
    )
    numeric = measure_gradients(evaluate, graph, request, point, most)

    short = find_short(graph)
    noise = partial(estimate_rounding_noise, evaluate, graph, request, point, functions, held)
    found: dict[TensorRef, Examined] = {}
    for ref, n in numeric.items():
        finding = judge(own[ref], wide[ref], n, partial(noise, ref), short)
        found[ref] = Examined(own[ref], wide[ref], n, finding)
    return found


def find_short(graph: Graph) -> str:
    """The element type shorter than float32 that something of `graph` is cast to; "" if none."""
    kinds = (value for op in within(graph) for value in op.attrs.values())
    return next((kind.value for kind in kinds if isinstance(kind, DType) and kind.is_short), "")


def request_second_order(
    graph: Graph, request: GradientRequest, functions: Mapping[str, GradientFunction]
) -> tuple[Graph, GradientRequest]:
    """What to ask to examine the gradient of the gradient: the graph that `request` makes, and of
    it the gradient of every first gradient, each element with a weight of its own. `of` is empty
    where there is no first gradient. Raises GradstepError."""
    derived = differentiate(graph, request, functions)
    slopes = dict.fromkeys(derived.gradients[x] for x in request.wrt if x in derived.gradients)
    builder = GraphBuilder(derived.graph)
    with builder.scope("weighted"):
        of = tuple(_weighted(builder, ref) for ref in slopes)
    return builder.build(), replace(request, of=of, grad_ys=())


def _weighted(builder: GraphBuilder, ref: TensorRef) -> TensorRef:
    """`ref` times 0.3, 0.67, 1.04, 0.41… by element, so that nothing cancels by chance."""
    x = builder.get(ref)
    count = builder.one("Size", x)
    places = builder.one("Range", np.int32(0), count, np.int32(1))
    ramp = builder.one("Cast", places, DstT=x.dtype)
    ramp = builder.one("FloorMod", ramp * 0.37, builder.tensor(1.0, x.dtype)) + 0.3
    return (x * builder.one("Reshape", ramp, builder.one("Shape", x))).ref
