"""Gradients that are right of the numbers a run has, which float32 has rounded far from float64's.

Where -1e9 is added to a row of scores, float32 keeps nothing of the scores, and float64 little: the
two then differentiate different numbers, and differences say nothing of what float32 has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.check.analytic_gradients import (
    Gradients,
    Held,
    evaluate_gradients,
    evaluate_wide_gradients,
    rounded_tensors,
)
from gradstep.core.autodiff.check.check_result import CheckResult, Verdict, judge
from gradstep.core.autodiff.check.complex_step import measure_complex_slopes
from gradstep.core.autodiff.check.finite_differences import NumericGradient
from gradstep.core.autodiff.check.frozen_values import (
    Evaluate,
    Point,
    evaluate_alive,
    freeze_values,
)
from gradstep.core.autodiff.check.gradcheck import Check
from gradstep.core.autodiff.check.promote_float64 import widen, widen_array
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of, limits_of

_ROUNDINGS = 512  # of a gradient's largest element, that a way back in float32 may add up
_SLOPES = 1e-6  # of a gradient's largest element, that complex steps tell in float64
_SUMS = frozenset({"Add", "AddV2", "Sub"})
_FAR = 1e-3  # of a tensor's largest element: more than rounding by itself makes of it


def with_run_rounding(
    evaluate: Evaluate,
    graph: Graph,
    request: GradientRequest,
    point: Point,
    functions: Mapping[str, GradientFunction],
    check: Check,
    held: Held | None = None,
) -> Check:
    """`check`, in which a tensor that was found wrong is at float32's limit where its gradient is
    right in float64, and the one that the run has is what float64 gives of the run's own forward
    numbers. The other arguments are those of check_gradients."""
    wrong = [ref for ref, found in check.findings.items() if found.verdict is Verdict.WRONG]
    narrow = any(kind_of(x.dtype) == "f" and x.itemsize == 4 for x in point.values())
    if not wrong or not narrow:
        return check
    asked = replace(request, wrt=(*wrong,))
    run = _Run(evaluate, graph, asked, point)
    of_run = run.gradients(functions, held)
    rounded = [ref for ref in wrong if _is_rounded(check.in_force[ref], of_run[ref])]
    if not rounded:
        return check
    wide = evaluate_wide_gradients(evaluate, graph, asked, point, functions, held)
    lost = run.first_lost()
    right = [ref for ref in rounded if _is_right(wide[ref], check.numeric[ref])]
    if lost and not check.overridden:  # of which differences see nothing, and complex steps do
        others = [ref for ref in rounded if ref not in right]
        right += [ref for ref in others if run.has_slopes(ref, wide[ref])]
    why = lost or run.first_parted()
    findings = {ref: _limited(check.findings[ref], why) for ref in right}
    return replace(check, findings={**check.findings, **findings})


class _Run:
    """The forward numbers of a run, in their own precision."""

    def __init__(
        self, evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point
    ) -> None:
        self._evaluate, self._graph, self._request = evaluate, graph, request
        self._point = point
        self._base = {ref: widen_array(value) for ref, value in point.items()}
        self._computed = rounded_tensors(graph, request, point)
        sums = [graph[ref.op] for ref in self._computed if graph[ref.op].type in _SUMS]
        summed = [x for op in sums for x in op.inputs if x is not None and x not in point]
        refs = dict.fromkeys([*self._computed, *summed])
        self._known = {**point, **evaluate_alive(evaluate, graph, [*refs], point)}
        self._values = {ref: self._known[ref] for ref in self._computed if ref in self._known}

    def gradients(self, functions: Mapping[str, GradientFunction], held: Held | None) -> Gradients:
        """What float64 gives of these numbers."""
        graph = self._graph
        if held is None:  # of the graph as it is: rules may have constants of its element types
            derived = differentiate(graph, self._request, functions)
            graph, held = derived.graph, derived.gradients
        numbers = {ref: widen_array(value) for ref, value in self._values.items()}
        at = {**self._base, **numbers}
        wide = widen(graph)
        return evaluate_gradients(self._evaluate, wide, self._request, at, functions, held)

    def has_slopes(self, ref: TensorRef, gradient: np.ndarray | None) -> bool:
        """Whether complex steps in float64 give this gradient: what a sum loses of a number it
        keeps of its imaginary part."""
        if gradient is None:
            return False
        graph, base = freeze_values(self._evaluate, self._graph, self._request, self._point)
        found = measure_complex_slopes(
            self._evaluate, graph, self._request.of, ref, base, range(gradient.size)
        )
        if found is None or self._request.grad_ys:
            return False
        slack = _SLOPES * (np.abs(found).max(initial=0.0) + 1e-9)
        return bool((np.abs(gradient.ravel() - found) <= slack).all())

    def first_lost(self) -> str:
        """Of the sums in order, the first that keeps nothing of what is added to a number."""
        for ref in self._computed:
            op = self._graph[ref.op]
            if op.type not in _SUMS or not all(x in self._known for x in op.inputs):
                continue
            total = self._known[ref]
            first, second = (self._known[x] for x in op.inputs if x is not None)
            for one, other in ((first, second), (second, first)):
                where = _lost(total, one, other)
                if where is not None:
                    return (
                        f"{op.name} ({op.type}) adds {_at(other, total, where):.3g} to "
                        f"{_at(one, total, where):.3g}, which keeps nothing of it"
                    )
        return ""

    def first_parted(self) -> str:
        """Of the tensors in order, the first that float64 has far from what it is here."""
        wide = evaluate_alive(self._evaluate, widen(self._graph), self._computed, self._base)
        for ref, here in self._values.items():
            there = wide.get(ref)
            if there is None or not there.size:
                continue
            off = np.abs(here.astype(np.float64) - there)
            index = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
            if off[index] > _FAR * float(np.abs(there).max()):
                at = f" at index {list(index)}" if index else ""
                op = self._graph[ref.op]
                return (
                    f"{op.name} ({op.type}) is {here[index]:.6g}{at} in float32, and "
                    f"{there[index]:.6g} in float64"
                )
        return ""


def _is_right(wide: np.ndarray | None, numeric: NumericGradient) -> bool:
    """Whether a gradient in float64 is what the numbers say, as nearly as they are judged by."""
    found = judge(wide, wide, numeric, lambda: np.zeros(numeric.value.shape))
    return found.verdict is not Verdict.WRONG


def _lost(total: np.ndarray, one: np.ndarray, other: np.ndarray) -> tuple[int, ...] | None:
    """Where a sum is the one number alone, though the other is not small among its own."""
    if kind_of(total.dtype) != "f" or not np.isfinite(other).any():
        return None
    size = np.broadcast_to(np.abs(other), total.shape)
    some = size > _FAR * float(np.abs(other[np.isfinite(other)]).max())
    lost = (total == one) & some & np.isfinite(total) & np.isfinite(size)
    if not lost.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(lost)), lost.shape))


def _at(x: np.ndarray, total: np.ndarray, where: tuple[int, ...]) -> float:
    return float(np.broadcast_to(x, total.shape)[where])


def _is_rounded(own: np.ndarray | None, of_run: np.ndarray | None) -> bool:
    """Whether they are one but for roundings on the way back."""
    if own is None or of_run is None or own.shape != of_run.shape or own.itemsize != 4:
        return False
    slack = _ROUNDINGS * float(limits_of(own.dtype).eps) * np.abs(of_run).max(initial=0.0)
    return bool((np.abs(own.astype(np.float64) - of_run) <= slack).all())


def _limited(found: CheckResult, why: str) -> CheckResult:
    limit = Verdict.FLOAT32
    verdicts = {at: limit if v is Verdict.WRONG else v for at, v in found.verdicts.items()}
    place = f" at index {list(found.index)}" if found.index else ""
    text = f"float32's limit{place}: right of the numbers that the run has"
    return replace(found, verdict=limit, verdicts=verdicts, text=f"{text}; {why}" if why else text)
