"""The gradient request that names make, over the document's own or an imported graph's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.recognition.recognised_gradients import answer_request
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.document.document import Document
from gradstep.core.document.requests import every_request, main_request
from gradstep.core.engine.run.feed_values import instead_of, missing_tensor
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere, within
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.graph.suggestions import near
from gradstep.core.program.unused_overrides import near_miss


@dataclass(frozen=True)
class GradientQuery:
    """Gradients in the words of `gradstep grad`: names of tensors; what is empty is as the document
    has it.

    stop: tensors, or wires written "op<1", that nothing flows back through. override: (op type,
    operation, or scope written "scope/"; gradient) pairs. grad_ys: what each of `of` starts with,
    "-" for ones. unconnected: "none" or "zero", TensorFlow's unconnected_gradients; "" for the
    document's. gate: gate_gradients.
    """

    of: Sequence[str] = ()
    wrt: Sequence[str] = ()
    stop: Sequence[str] = ()
    override: Sequence[tuple[str, str]] = ()
    grad_ys: Sequence[str] = ()
    unconnected: str = ""
    gate: bool = False


def as_asked(document: Document, query: GradientQuery) -> Document:
    """The document, asking for what the query says; of the gradients that an imported graph
    holds it takes those, where nothing bends them. Raises GradstepError for what the graph does
    not have."""
    request = request_of(document, query)
    if not document.request.of:
        for one in document.imported:
            narrowed = replace(one, wrt=request.wrt)
            bent = replace(request, grad_ys=request.grad_ys or one.grad_ys) != narrowed.request
            if not bent and _holds(document.graph, one, narrowed):
                others = (other for other in document.imported if other is not one)
                return document.with_(imported=(narrowed, *others))
    return document.with_(request=request)


def _holds(graph: Graph, one: ImportedGradients, narrowed: ImportedGradients) -> bool:
    """Whether a graph has, or says that there is none of, each gradient that is asked for."""
    if {*narrowed.wrt} <= {*one.wrt}:
        return True
    try:
        return {*narrowed.wrt} <= answer_request(graph, narrowed).gradients.keys()
    except GradstepError:
        return False


def request_of(document: Document, query: GradientQuery) -> GradientRequest:
    """Raises GradstepError for what the graph does not have."""
    request = document.request
    stops, edges = set(request.stops), set(request.stopped_edges)
    for text in query.stop:
        if "<" in text:
            edges.add(_edge(document.graph, text))
        else:
            stops.add(_stop(document.graph, text))
    overrides = [_override(document.graph, *pair) for pair in query.override]
    starts = _grad_ys(document.graph, query)
    if not request.of and (query.wrt or stops or edges or overrides or starts or _flags(query)):
        main = main_request(document)  # an imported graph's own, to be derived anew
        request = replace(request, of=main.of, wrt=main.wrt)
    of = tuple(named_tensor(document.graph, n) for n in query.of) or request.of
    wrt = tuple(named_tensor(document.graph, n) for n in query.wrt)
    return replace(
        request,
        of=of,
        wrt=wrt or _asked_of(document, of, request),
        stops=frozenset(stops),
        stopped_edges=frozenset(edges),
        overrides=(*request.overrides, *overrides),
        grad_ys=starts or request.grad_ys,
        unconnected_zero=_unconnected_zero(request, query),
        gate=request.gate or query.gate,
    )


def _asked_of(
    document: Document, of: tuple[TensorRef, ...], request: GradientRequest
) -> tuple[TensorRef, ...]:
    """With respect to what the document differentiates this; else what it differentiates first."""
    return next((r.wrt for r in every_request(document) if r.of == of), request.wrt)


def _flags(query: GradientQuery) -> bool:
    """Whether the query asks for gradients that are made in another way."""
    return query.gate or bool(query.unconnected)


def _grad_ys(graph: Graph, query: GradientQuery) -> tuple[TensorRef | None, ...]:
    return tuple(None if n == "-" else named_tensor(graph, n) for n in query.grad_ys)


def _unconnected_zero(request: GradientRequest, query: GradientQuery) -> bool:
    return query.unconnected == "zero" if query.unconnected else request.unconnected_zero


def named_tensor(graph: Graph, text: str) -> TensorRef:
    """Raises GradstepError for one that there is not."""
    ref = TensorRef.parse(text)
    graph[ref.op]  # raises, with near misses
    missing = missing_tensor(graph, ref)
    if missing is not None:
        hint = instead_of(graph, ref)
        raise GradstepError(missing, kind="KeyError", node=ref.op, hint=hint)
    return ref


def _stop(graph: Graph, text: str) -> TensorRef:
    """A tensor through which nothing flows back; it may be inside a loop."""
    ref = TensorRef.parse(text)
    anywhere(graph, ref.op)
    return ref


def _edge(graph: Graph, text: str) -> Edge:
    edge = Edge.parse(text)
    count = len(anywhere(graph, edge.op).inputs)
    if edge.index >= count:
        raise GradstepError(
            f"'{edge.op}' has {count} inputs, so there is no wire {edge}",
            kind="ValueError",
            node=edge.op,
            hint=f"the first wire is {edge.op}<0",
        )
    return edge


def _override(graph: Graph, target: str, gradient: str) -> Override:
    return Override(gradient, target, _override_kind(graph, target))


def _override_kind(graph: Graph, target: str) -> OverrideKind:
    if target.endswith("/"):
        if any(op.name.startswith(target) for op in within(graph)):
            return OverrideKind.SCOPE
    elif any(op.type == target for op in within(graph)):
        return OverrideKind.TYPE
    elif any(op.name == target for op in within(graph)):
        return OverrideKind.OP
    text, hint = near_miss(graph, _meant(graph, target), target.rstrip("/"))
    raise GradstepError(text, kind="ValueError", hint=hint)


def _meant(graph: Graph, target: str) -> OverrideKind:
    """What a target that matches nothing was to name: an operation only if one is called nearly
    so, and no type."""
    if target.endswith("/"):
        return OverrideKind.SCOPE
    if near(target, {op.type for op in within(graph)}) or not near(target, _names(graph)):
        return OverrideKind.TYPE
    return OverrideKind.OP


def _names(graph: Graph) -> list[str]:
    return [op.name for op in within(graph)]
