"""Gradients that a graph holds already, as if Gradstep had derived them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.recognition.cotangent_pairing import Found
from gradstep.core.autodiff.recognition.dense_gradient_views import Views
from gradstep.core.autodiff.recognition.differentiated_losses import find_differentiated
from gradstep.core.autodiff.recognition.gradient_recognition import Recognised, recognise
from gradstep.core.autodiff.recognition.gradient_scope import GradientScope
from gradstep.core.autodiff.recognition.imported_request import find_written_variables
from gradstep.core.autodiff.reverse.contributions import Slices
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_end import GradientEnd, left_out_by
from gradstep.core.autodiff.reverse.gradient_request import gradient_name
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES


def answer_request(graph: Graph, imported: ImportedGradients) -> Differentiation:
    """What the operations of `imported.scope` are the gradients of, as far as it was found. The
    graph is the given one, and for each gradient that comes as rows an operation that makes a whole
    tensor of them. Raises GradstepError where the graph cannot be differentiated."""
    scope = GradientScope(graph, imported.scope)
    seeds = {
        loss: start for loss, start in find_differentiated(scope).items() if loss in imported.of
    }
    known = recognise(graph, imported.scope, seeds)
    below = _below(graph, [*_given(graph, known), *imported.wrt])
    found = {ref: held for ref, held in known.gradients.items() if ref.op in below}
    found |= _used(scope, known, imported.wrt)
    views = Views(graph, imported.scope)
    gradients = {ref: views.whole(ref.op, ref, held) for ref, held in found.items()}
    wires = ((e, graph.source(e), held) for e, held in known.edges.items())
    flows = ((e, views.whole(e.op, x, held)) for e, x, held in wires if x and x.op in below)
    flowing = {edge: held for edge, held in flows if held is not None}
    whole = views.graph()
    return Differentiation(
        graph=whole,
        gradients={ref: held for ref, held in gradients.items() if held is not None},
        slices={ref: held for ref, held in found.items() if isinstance(held, Slices)},
        edges=dict(sorted(flowing.items(), key=lambda item: _is_own(whole, *item))),
        blocked=_blocked(graph, known, imported.wrt),
        custom={},
        request=imported.request,
        imported=imported.scope,
    )


def _used(
    scope: GradientScope, known: Recognised, wrt: Iterable[TensorRef]
) -> dict[TensorRef, Found]:
    """Gradients that were not found on the way back, as the updates of their variables take
    them."""
    missing = {ref.op: ref for ref in wrt if ref not in known.gradients}
    missing = {name: ref for name, ref in missing.items() if ref in known.again.gradients}
    found: dict[TensorRef, Found] = {}
    for op in scope.graph if missing else ():
        names = find_written_variables(op, scope.graph)[:1]
        taken = [ref for ref in op.inputs if ref is not None and ref.op in scope.members]
        if names and names[0] in missing and 0 < len(taken) < 3:
            rows = Slices(taken[0], taken[-1])
            found[missing[names[0]]] = taken[0] if len(taken) == 1 else rows
    return found


def _given(graph: Graph, known: Recognised) -> Iterator[TensorRef]:
    """What the graph is given from outside, or keeps: the gradient of a constant is nobody's
    question."""
    for ref in known.again.request.wrt:
        if graph[ref.op].type in VARIABLES or graph[ref.op].type.startswith("Placeholder"):
            yield ref


def _is_own(graph: Graph, edge: Edge, held: TensorRef) -> bool:
    """Whether a gradient was made for that very wire, and is not only passed on over it. Who says
    what a tensor is the gradient of takes the last of its wires."""
    return graph[held.op].origin == edge.op


def _blocked(graph: Graph, known: Recognised, wrt: Iterable[TensorRef]) -> dict[Edge, GradientEnd]:
    """Where gradients end on the way to `wrt`."""
    below = _below(graph, wrt)
    ends = {edge: why for edge, why in known.again.blocked.items() if edge.op in graph}
    for edge in sorted(known.ended, key=str):  # what is listed is the same in every process
        ends[edge] = left_out_by(gradient_name(graph[edge.op], ()))
    sources = ((edge, why, graph.source(edge)) for edge, why in ends.items())
    return {e: why for e, why, source in sources if source is not None and source.op in below}


def _below(graph: Graph, refs: Iterable[TensorRef]) -> set[str]:
    """The operations of tensors, and all that are computed from them."""
    found = {ref.op for ref in refs}
    for name in graph.order:
        if any(ref is not None and ref.op in found for ref in graph[name].inputs):
            found.add(name)
    return found
