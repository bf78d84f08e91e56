"""Checking one operation's gradient against finite differences of that operation alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradstep.core.autodiff.check.check_result import (
    CheckResult,
    Verdict,
    attribute_to,
    find_worst,
    leave_out_poles,
)
from gradstep.core.autodiff.check.finite_differences import NumericGradient
from gradstep.core.autodiff.check.frozen_values import Evaluate
from gradstep.core.autodiff.check.telling_cotangents import Cotangents, find_telling
from gradstep.core.autodiff.check.tensor_gradcheck import Examined, examine, request_second_order
from gradstep.core.autodiff.check.wrapped_function import WrappedFunction
from gradstep.core.autodiff.recognition.imported_vjp import find_imported_vjp
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, gradient_name
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import lookup

_LARGEST = 4096  # input elements; beyond this a node's check would cost as many runs


@dataclass(frozen=True)
class LocalCheck:
    """One node. results, numeric: per data input that is a float tensor (by input index), the
    gradient in force and the numeric one for `cotangents`, by output: those that really arrived, or
    others, where these are too small to tell what is wrong (see telling_cotangents). findings: what
    comes of it; second: the same for the gradient of the gradient, where that was asked for."""

    node: str
    gradient: str
    results: Mapping[int, np.ndarray | None]
    numeric: Mapping[int, NumericGradient]
    findings: Mapping[int, CheckResult]
    cotangents: Cotangents = field(default_factory=dict)
    second: Mapping[int, CheckResult] = field(default_factory=dict)

    @property
    def wrong_inputs(self) -> list[int]:
        """Inputs whose gradient is not what the numbers say."""
        return [i for i, f in self.findings.items() if f.verdict is Verdict.WRONG]

    @property
    def agrees(self) -> bool:
        return not self.wrong_inputs

    @property
    def verdict(self) -> Verdict:
        """The most concerning one of all inputs and orders."""
        return find_worst([*self.findings.values(), *self.second.values()])


def check_operation(
    evaluate: Evaluate,
    op: Operation,
    inputs: Sequence[np.ndarray],
    cotangents: Mapping[int, np.ndarray],
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    most: int = 0,
    second_order: bool = False,
    imported: Differentiation | None = None,
    wrapped: WrappedFunction | None = None,
) -> LocalCheck | None:
    """The gradient of `op` alone, at its real `inputs`, for its real `cotangents` (output index
    -> array), and where these are too small to tell anything, for others: what is wrong for those
    that arrive is said of them. most: look at no more elements of an input; 0: at all. imported:
    check what this has for the operation, instead of what is derived. wrapped: the function before
    it whose gradient its gradient is. None when there is nothing to check: no float inputs, or too
    many elements to look at all."""
    if not cotangents:
        return None

    def check(arriving: Cotangents) -> LocalCheck | None:
        options = most, second_order, imported, wrapped
        return _check_for(arriving, evaluate, op, inputs, request, functions, *options)

    telling = find_telling(cotangents)
    found = check(telling)
    if telling is cotangents or found is None or found.verdict is Verdict.OK:
        return found
    real = check(cotangents)
    if real is None or real.verdict is Verdict.WRONG:
        return real
    return found if _is_told(found) else real


def _is_told(check: LocalCheck) -> bool:
    """Whether a number is wrong: at a pole that the real cotangents leave out, as behind a Where,
    others give NaN and infinities, which is nobody's mistake."""
    found = [*check.findings.values(), *check.second.values()]
    wrong = [f for f in found if f.verdict is Verdict.WRONG]
    shown = [0.0 if f.analytic is None else f.analytic for f in wrong]
    return any(np.isfinite(number) for number in shown)


def _check_for(
    cotangents: Cotangents,
    evaluate: Evaluate,
    op: Operation,
    inputs: Sequence[np.ndarray],
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
    most: int,
    second_order: bool,
    imported: Differentiation | None,
    wrapped: WrappedFunction | None,
) -> LocalCheck | None:
    first = 0 if wrapped is None else wrapped.results
    floats = [i for i, x in enumerate(inputs) if i >= first and kind_of(x.dtype) == "f"]
    total = sum(inputs[i].size for i in floats)
    if not floats or (not most and total > _LARGEST):
        return None
    graph, holes, of = _isolated(op, inputs, cotangents, wrapped)
    vjp = None
    if imported is not None:
        arriving = {index: TensorRef(f"check/g{index}") for index in cotangents}
        vjp = find_imported_vjp(imported, op, holes, arriving)
        if vjp is None:
            return None
        floats = [i for i in floats if i in vjp.gradients]
        graph = Graph.of([*graph, *vjp.operations])
    pairs = zip(holes, inputs, strict=True)
    point = {hole: x for hole, x in pairs if kind_of(x.dtype) in "fc"}
    local = replace(
        request,
        of=tuple(of),
        wrt=tuple(holes[i] for i in floats),
        stops=frozenset(),
        stopped_edges=frozenset(),
        grad_ys=(),
    )
    held = None if vjp is None else {holes[i]: ref for i, ref in vjp.gradients.items()}
    found = examine(evaluate, graph, local, point, functions, most, held)
    name = gradient_name(op, request.overrides) if vjp is None else vjp.name
    settled = attribute_defects(op, request, {i: found[holes[i]] for i in floats})
    if name == op.type:
        settled = {i: _without_poles(e) for i, e in settled.items()}
    check = _check(op, name, settled, cotangents)
    if not second_order:
        return check
    question, asked = request_second_order(graph, local, functions)
    if not asked.of:
        return check
    again = examine(evaluate, question, asked, point, functions, most)
    twice = attribute_defects(op, request, {i: again[holes[i]] for i in floats}, order=2)
    return replace(check, second={i: e.finding for i, e in twice.items()})


def attribute_defects(
    op: Operation, request: GradientRequest, found: Mapping[int, Examined], order: int = 1
) -> dict[int, Examined]:
    """By input, with what is a defect of TensorFlow's own said to be that."""
    if gradient_name(op, request.overrides) != op.type:
        return dict(found)
    definition = lookup(op.type, op.name)
    names = definition.arity(len(op.inputs))
    settled = dict(found)
    for defect in definition.gradient.defects:
        for i, e in found.items():
            if (names[i], order) == (defect.input, defect.order):
                finding = attribute_to(defect, e.finding, e.own, e.numeric)
                settled[i] = replace(e, finding=finding)
    return settled


def _without_poles(e: Examined) -> Examined:
    return replace(e, finding=leave_out_poles(e.finding, e.own, e.numeric))


def _check(
    op: Operation, gradient: str, by_input: Mapping[int, Examined], cotangents: Cotangents
) -> LocalCheck:
    return LocalCheck(
        op.name,
        gradient,
        {i: e.gradient for i, e in by_input.items()},
        {i: e.numeric for i, e in by_input.items()},
        {i: e.finding for i, e in by_input.items()},
        cotangents,
    )


def _isolated(
    op: Operation,
    inputs: Sequence[np.ndarray],
    cotangents: Mapping[int, np.ndarray],
    wrapped: WrappedFunction | None,
) -> tuple[Graph, list[TensorRef], list[TensorRef]]:
    """`op`, and what it wraps, between placeholders and the products of its outputs and their
    cotangents."""
    made: list[Operation] = []

    def make(name: str, type: str, *refs: TensorRef, **attrs: object) -> TensorRef:
        made.append(Operation(f"check/{name}", type, refs, attrs=attrs))
        return made[-1].output()

    def hole(name: str, x: np.ndarray) -> TensorRef:
        kind = DType.of(x.dtype)
        if kind_of(x.dtype) in "fc":
            return make(name, "Placeholder", dtype=kind, shape=Shape(x.shape))
        return make(name, "Const", value=Constant(x), dtype=kind)  # rules may need its value

    holes = [hole(f"in{i}", x) for i, x in enumerate(inputs)]
    alone = [replace(op, inputs=tuple(holes), control_inputs=())]
    made += alone if wrapped is None else wrapped.between(op, holes)
    parts = []
    for index, cotangent in cotangents.items():
        value, kind = np.conj(cotangent), DType.of(cotangent.dtype)
        weight = make(f"g{index}", "Const", value=Constant(value), dtype=kind)
        part = make(f"y{index}", "Mul", op.output(index), weight)
        if kind.is_complex:  # the real function whose gradient is this cotangent
            part = make(f"real{index}", "Real", part, Tout=_REAL[kind])
        parts.append(part)
    return Graph.of(made), holes, parts


_REAL = {DType.COMPLEX64: DType.FLOAT32, DType.COMPLEX128: DType.FLOAT64}
