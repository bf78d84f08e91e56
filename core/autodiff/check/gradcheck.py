"""Gradient check: native, overridden and numeric gradients side by side, and node by node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gradstep.core.autodiff.check.analytic_gradients import Held, evaluate_gradients
from gradstep.core.autodiff.check.check_result import CheckResult, Verdict
from gradstep.core.autodiff.check.finite_differences import NumericGradient, agree
from gradstep.core.autodiff.check.frozen_values import Evaluate, Point
from gradstep.core.autodiff.check.tensor_gradcheck import examine, request_second_order
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    gradient_name,
    native_name,
)
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import everywhere, within
from gradstep.core.graph.model import Graph, Operation, TensorRef

Gradients = Mapping[TensorRef, np.ndarray | None]

Supported = Literal["native", "override", "both", "neither"]


@dataclass(frozen=True)
class Check:
    """Gradients of `request.of` with respect to each tensor of `request.wrt`.

    in_force: with the request's overrides; native: without them, None when that cannot be
    computed (then `native_error` says why); numeric: finite differences in float64. findings:
    what comes of it for the gradient in force; second: for its gradient, where that was asked for.
    """

    in_force: Gradients
    native: Gradients | None
    numeric: Mapping[TensorRef, NumericGradient]
    findings: Mapping[TensorRef, CheckResult]
    overridden: bool
    native_error: str = ""
    second: Mapping[TensorRef, CheckResult] = field(default_factory=dict)

    def agrees(self, ref: TensorRef) -> np.ndarray:
        """Per element, whether the gradient in force is what the numbers say; bool."""
        right = np.ones(self.numeric[ref].value.shape, bool)
        for index, verdict in self.findings[ref].verdicts.items():
            right[index] = verdict is not Verdict.WRONG
        return right

    @property
    def supports(self) -> Supported:
        """Which gradient the numbers support."""
        override = all(f.verdict is not Verdict.WRONG for f in self.findings.values())
        native = self.native is not None and self._all_agree(self.native)
        if not self.overridden:
            return "native" if override else "neither"
        if override:
            return "both" if native else "override"
        return "native" if native else "neither"

    def _all_agree(self, gradients: Gradients) -> bool:
        return all(bool(agree(gradients[ref], n).all()) for ref, n in self.numeric.items())


def check_gradients(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
    second_order: bool = False,
    held: Held | None = None,
) -> Check:
    """The whole request at `point` (see measure_gradients). held: see evaluate_gradients. Raises
    GradstepError where the gradient in force cannot be computed; a native gradient that cannot be
    is only noted."""
    request = replace(request, wrt=tuple(ref for ref in request.wrt if ref in point))
    overridden = held is None and any(_is_overridden(op, request) for op in within(graph))
    examined = examine(evaluate, graph, request, point, functions, held=held)
    in_force = {ref: e.own for ref, e in examined.items()}
    native: Gradients | None = in_force
    error = ""
    if overridden:
        try:
            bare = strip_gradient_op_types(graph)
            plain = replace(request, overrides=())
            native = evaluate_gradients(evaluate, bare, plain, point, functions)
        except GradstepError as failure:
            native, error = None, failure.message
    numeric = {ref: e.numeric for ref, e in examined.items()}
    findings = {ref: e.finding for ref, e in examined.items()}
    second = _second(evaluate, graph, request, point, functions) if second_order else {}
    return Check(in_force, native, numeric, findings, overridden, error, second)


def _second(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
) -> Mapping[TensorRef, CheckResult]:
    """The gradient of the gradient, with a weight for each of its elements."""
    question, asked = request_second_order(graph, request, functions)
    if not asked.of:
        return {}
    found = examine(evaluate, question, asked, point, functions)
    return {ref: e.finding for ref, e in found.items()}


def strip_gradient_op_types(graph: Graph) -> Graph:
    """`graph` without the `_gradient_op_type` that its operations carry."""
    return everywhere(graph, lambda part: Graph.of(_native(op) for op in part))


def _native(op: Operation) -> Operation:
    if op.gradient_op_type is None:
        return op
    return replace(op, attrs={k: v for k, v in op.attrs.items() if k != "_gradient_op_type"})


def _is_overridden(op: Operation, request: GradientRequest) -> bool:
    return gradient_name(op, request.overrides) != native_name(op)
