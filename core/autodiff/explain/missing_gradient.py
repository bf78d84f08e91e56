"""Why a gradient is None: the operation where its path ends, the reason, and the path."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.autodiff.explain.assignment_paths import (
    find_assigned_variables,
    find_assignments,
)
from gradstep.core.autodiff.explain.gradient_paths import (
    comes_from,
    find_flow_path,
    find_forward_path,
)
from gradstep.core.autodiff.explain.why_answer import WhyAnswer
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import infer_declared


def explain_none(
    graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef, whole: Graph
) -> WhyAnswer:
    """Why d(of)/d(wrt) is None. graph: what of the forward graph has to do with them, one iteration
    of each loop written out in it, and `derived` its differentiation (see loop_inlining.py);
    whole: all of the forward graph, likewise with what is in its loops."""
    paths = find_forward_path(graph, wrt.op, of.op)
    what = f"d {of.short} / d {wrt.short} is None"
    dtype = infer_declared(derived.graph).types[of].dtype
    if not dtype.is_differentiable:
        text = f"{what}: {of.short} holds {dtype.value} values, which have no gradient."
        return WhyAnswer("none", "not_differentiable", of.op, text=text, path=(of.op,))
    if not paths and (assigning := find_assignments(whole, wrt.op, of.op)):
        return _assigned(whole, what, of, wrt, assigning)
    if not paths:
        text = f"{what}: no wire leads from {wrt.short} to {of.short}."
        return WhyAnswer("none", "unconnected", text=text)
    below = graph.takers(wrt.op)
    blocks = [edge for edge in derived.blocked if comes_from(graph, edge, below)]
    if not blocks:
        text = f"{what}: nothing between them has a gradient."
        return WhyAnswer("none", "not_differentiable", text=text, path=paths)
    rank = {name: i for i, name in enumerate(graph.order)}
    edge = max(blocks, key=lambda e: (rank[e.op], -e.index))  # nearest to `of`: it hides the rest
    end = derived.blocked[edge]
    path = (*find_flow_path(graph, derived, of, TensorRef(edge.op)), edge.op)
    source = graph.source(edge)
    wire = f"{source.short if source else '?'} → {edge.op}"
    others = len(blocks) - 1
    more = f" {others} other way{'s' if others > 1 else ''} back ended too." if others else ""
    text = f"{what}: the gradient ends at {edge.op}, on the wire {wire}: {end.text}.{more}"
    cause = "assigned" if find_assigned_variables(graph, graph[edge.op]) else end.cause
    text += _NOT_ASSIGNED if cause == "assigned" else ""
    return WhyAnswer("none", cause, edge.op, text=text, path=_once(path))


_NOT_ASSIGNED = (
    " Gradients do not pass assignments: to train through the value, use it itself and not the "
    "variable it is assigned to."
)


def _assigned(
    graph: Graph, what: str, of: TensorRef, wrt: TensorRef, assigning: Sequence[Operation]
) -> WhyAnswer:
    """Nothing but an assignment leads from one to the other."""
    last = assigning[-1]
    (variable, *_) = find_assigned_variables(graph, last)
    start = f"{wrt.short} leads to {of.short} only by way of {variable}"
    text = f"{what}: {start}, which {last.name} ({last.type}) assigns.{_NOT_ASSIGNED}"
    path = (*find_forward_path(graph, variable, of.op), last.name)
    return WhyAnswer("none", "assigned", last.name, text=text, path=_once(path))


def _once(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path))
