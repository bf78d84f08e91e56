"""Answering CheckGradients: native, overridden and numeric gradients, and which one is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.autodiff.differentiate import Differentiation, differentiate
from core.autodiff.gradcheck import Check, Gradients, check_gradients, overridden_operations
from core.autodiff.localcheck import check_operation
from core.autodiff.notation import Notation
from core.autodiff.request import GradientRequest, gradient_name
from core.autodiff.rules import GradientFunction
from core.autodiff.verdict import explain_check, repeated_factor, suggest
from core.errors import GradstepError
from core.graph.dtypes import DType
from core.graph.model import Graph, Operation, TensorRef
from core.host.evaluator import Evaluator
from core.host.messages import GradientRow, GradientTable, NodeCheck
from core.ops.infer import infer


@dataclass(frozen=True, eq=False)
class Situation:
    """Where gradients are looked at: the forward graph, what is asked of it, and the values of
    its variables and feeds there. functions: custom gradients by name."""

    graph: Graph
    request: GradientRequest
    functions: Mapping[str, GradientFunction]
    given: Mapping[TensorRef, np.ndarray]

    def needed(self, request: GradientRequest) -> Graph:
        """The part of the graph that `request` is about. Raises GradstepError for a wrong name."""
        ends = [self.graph[ref.op].name for ref in (*request.of, *request.wrt)]
        names = self.graph.ancestors(ends)
        return Graph.of(op for op in self.graph if op.name in names)


def gradient_table(evaluate: Evaluator, here: Situation) -> GradientTable:
    """Every element of every gradient asked for, and every overridden node by itself.

    Raises GradstepError when nothing is asked for, or a gradient cannot be computed."""
    if not here.request.of or not here.request.wrt:
        raise GradstepError(
            "no gradient is asked for",
            kind="ValueError",
            hint="choose what to differentiate, and with respect to what",
        )
    graph = here.needed(here.request)
    check = check_gradients(evaluate, graph, here.request, here.given, here.functions)
    return GradientTable(
        rows=[row for ref in check.numeric for row in _rows(check, ref)],
        nodes=list(_nodes(evaluate, here, graph)) if check.overridden else [],
        supports=check.supports,
        text=_text(check),
    )


def _rows(check: Check, ref: TensorRef) -> Iterator[GradientRow]:
    agrees = check.agrees(ref)
    numeric = check.numeric[ref].value
    for index in np.ndindex(numeric.shape):
        yield GradientRow(
            name=ref.short,
            index=list(index),
            native=None if check.native is None else _element(check.native, ref, index),
            override=_element(check.in_force, ref, index) if check.overridden else None,
            numeric=float(numeric[index]),
            agrees=bool(agrees[index]),
        )


def _element(gradients: Gradients, ref: TensorRef, index: tuple[int, ...]) -> float | None:
    array = gradients[ref]
    return None if array is None else float(array[index])


def _text(check: Check) -> str:
    if not check.overridden:
        if check.supports == "native":
            return "The gradients agree with finite differences."
        wrong = [ref.short for ref in check.numeric if not check.agrees(ref).all()]
        return f"The gradients of {', '.join(wrong)} differ from finite differences."
    native = f" There is no native gradient: {check.native_error}." if check.native_error else ""
    return _VERDICT[check.supports] + native


_VERDICT = {
    "native": "The numbers support the native gradient; the override gives another one.",
    "override": "The numbers support the override.",
    "both": "The override gives the native gradient, and the numbers support it.",
    "neither": "The numbers support neither gradient.",
}


def _nodes(evaluate: Evaluator, here: Situation, graph: Graph) -> Iterator[NodeCheck]:
    derived = differentiate(graph, here.request, here.functions)
    types = infer(graph).types
    notation = Notation(derived.graph, here.request.of, derived.gradients, derived.edges)
    for op in overridden_operations(graph, here.request):
        if any(ref is None or types[ref].dtype is DType.RESOURCE for ref in op.inputs):
            continue
        try:
            found = _node(evaluate, here, op, derived, notation)
        except GradstepError as error:
            name = gradient_name(op, here.request.overrides)
            found = NodeCheck(node=op.name, gradient=name, agrees=False, text=error.message)
        if found is not None:
            yield found


def _node(
    evaluate: Evaluator,
    here: Situation,
    op: Operation,
    derived: Differentiation,
    notation: Notation,
) -> NodeCheck | None:
    """One overridden operation at the values that it really meets; None when none reach it."""
    arriving = [(r, derived.gradients[r]) for r in derived.gradients if r.op == op.name]
    sources = [ref for ref in op.inputs if ref is not None]
    if not arriving:
        return None
    values = evaluate(derived.graph, [*sources, *(g for _, g in arriving)], here.given)
    inputs, gradients = values[: len(sources)], values[len(sources) :]
    cotangents = {ref.index: g for (ref, _), g in zip(arriving, gradients, strict=True)}
    check = check_operation(evaluate, op, inputs, cotangents, here.request, here.functions)
    if check is None:
        return None
    fix = suggest(check, len(sources), gradients[0])
    factor = repeated_factor(check, [ref.short for ref in sources], inputs, gradients[0])
    text = explain_check(check, notation.gradient_of(*arriving[0]), factor, fix)
    return NodeCheck(node=op.name, gradient=check.gradient, agrees=check.agrees, text=text, fix=fix)
