"""Gradient check: native, overridden and numeric gradients side by side, and node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.autodiff.differentiate import differentiate
from core.autodiff.numeric import Evaluate, NumericGradient, Point, agree, numeric_gradients
from core.autodiff.request import GradientRequest, gradient_name, native_name
from core.autodiff.rules import GradientFunction
from core.errors import GradstepError
from core.graph.model import Graph, Operation, TensorRef

Gradients = Mapping[TensorRef, np.ndarray | None]


@dataclass(frozen=True)
class Check:
    """Gradients of `request.of` with respect to each tensor of `request.wrt`.

    in_force: with the request's overrides; native: without them, None when that cannot be
    computed (then `native_error` says why); numeric: finite differences in float64.
    """

    in_force: Gradients
    native: Gradients | None
    numeric: Mapping[TensorRef, NumericGradient]
    overridden: bool
    native_error: str = ""

    def agrees(self, ref: TensorRef) -> np.ndarray:
        """Per element, whether the gradient in force is what the numbers say; bool."""
        return agree(self.in_force[ref], self.numeric[ref])

    @property
    def supports(self) -> str:
        """Which gradient the numbers support: "native", "override", "both" or "neither"."""
        override = self._all_agree(self.in_force)
        native = self.native is not None and self._all_agree(self.native)
        if not self.overridden:
            return "native" if override else "neither"
        return {(True, True): "both", (True, False): "override", (False, True): "native"}.get(
            (override, native), "neither"
        )

    def _all_agree(self, gradients: Gradients) -> bool:
        return all(bool(agree(gradients[ref], n).all()) for ref, n in self.numeric.items())


def check_gradients(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
) -> Check:
    """The whole request at `point` (see numeric_gradients). Raises GradstepError where the
    gradient in force cannot be computed; a native gradient that cannot be is only noted."""
    request = replace(request, wrt=tuple(ref for ref in request.wrt if ref in point))
    overridden = any(_is_overridden(op, request) for op in graph)
    in_force = analytic_gradients(evaluate, graph, request, point, functions)
    native: Gradients | None = in_force
    error = ""
    if overridden:
        try:
            bare = native_graph(graph)
            plain = replace(request, overrides=())
            native = analytic_gradients(evaluate, bare, plain, point, functions)
        except GradstepError as failure:
            native, error = None, failure.message
    numeric = numeric_gradients(evaluate, graph, request, point)
    return Check(in_force, native, numeric, overridden, error)


def analytic_gradients(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
) -> dict[TensorRef, np.ndarray | None]:
    """Values of the derived gradients at `point`; None where no gradient exists."""
    derived = differentiate(graph, request, functions)
    there = [ref for ref in request.wrt if ref in derived.gradients]
    values = evaluate(derived.graph, [derived.gradients[ref] for ref in there], point)
    found = dict(zip(there, values, strict=True))
    return {ref: found.get(ref) for ref in request.wrt}


def native_graph(graph: Graph) -> Graph:
    """`graph` without the `_gradient_op_type` that its operations carry."""
    return Graph.of(
        op
        if op.gradient_op_type is None
        else replace(op, attrs={k: v for k, v in op.attrs.items() if k != "_gradient_op_type"})
        for op in graph
    )


def overridden_operations(graph: Graph, request: GradientRequest) -> Sequence[Operation]:
    """Operations on the way back from `request.of` whose gradient is not their own."""
    reached = graph.ancestors(ref.op for ref in request.of)
    return [op for op in graph if op.name in reached and _is_overridden(op, request)]


def _is_overridden(op: Operation, request: GradientRequest) -> bool:
    return gradient_name(op, request.overrides) != native_name(op)
