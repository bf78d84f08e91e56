"""Finding the gradients that an imported graph holds, as requests that it has answered itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.recognition.cotangent_pairing import Found
from gradstep.core.autodiff.recognition.differentiated_losses import find_differentiated
from gradstep.core.autodiff.recognition.gradient_recognition import Recognised, recognise
from gradstep.core.autodiff.recognition.gradient_scope import GradientScope
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef, predecessors
from gradstep.core.ops.build.variable import VARIABLES, is_trainable
from gradstep.core.ops.declare.table import find


@dataclass(frozen=True, eq=False)
class Discovery:
    """What an imported graph holds. imported: those that are updated with first; origins: operation
    between the gradients of two others -> the forward operation that it belongs to."""

    imported: tuple[ImportedGradients, ...]
    origins: Mapping[str, str]


def discover(graph: Graph, scopes: Collection[str]) -> Discovery:
    """The gradients in `scopes`, of the graph's own forward operations."""
    updated = find_updated_variables(graph, scopes)
    found: list[ImportedGradients] = []
    origins: dict[str, str] = {}
    for name in scopes:
        scope = GradientScope(graph, name)
        try:
            seeds = find_differentiated(scope)
            known = recognise(graph, name, seeds) if seeds else None
        except GradstepError:
            continue  # a problem at a node, which says it there
        if known is None or not known.edges:
            continue
        wrt = _wrt(graph, scope, known, updated.get(name, ()))
        starts = tuple(_given(graph[start.op]) for start in seeds.values())
        grad_ys = starts if any(starts) else ()
        found.append(ImportedGradients(name, tuple(seeds), tuple(wrt), grad_ys))
        origins |= _origins(scope, seeds, known)
    ranked = sorted(found, key=lambda one: (one.scope not in updated, one.scope))
    return Discovery(tuple(ranked), origins)


def _given(start: Operation) -> TensorRef | None:
    """What the program gave to start with; None for ones."""
    return start.inputs[0] if start.type == "Identity" else None


def find_updated_variables(graph: Graph, scopes: Collection[str]) -> dict[str, list[str]]:
    """Scope of gradients -> the variables that are updated with them, whatever is done to the
    gradients before."""
    behind: dict[str, frozenset[str]] = {}
    found: dict[str, list[str]] = {}
    for name in graph.order:
        op = graph[name]
        scope = next((s for s in scopes if name.startswith(f"{s}/")), None)
        sources = [ref.op for ref in op.inputs if ref is not None]
        if loop_of(op) is not None and op.phase is Phase.FORWARD:  # which fills a gradient's stacks
            sources = [source for source in sources if graph[source].phase is Phase.FORWARD]
        before = (behind.get(source, frozenset()) for source in sources)
        behind[name] = frozenset((scope,)) if scope is not None else frozenset().union(*before)
        if scope is None and behind[name] and (variable := find_written_variables(op, graph)):
            for each in behind[name]:
                found.setdefault(each, []).append(variable[0])
    return found


def find_written_variables(op: Operation, graph: Graph) -> list[str]:
    """The variables that `op` gives new values, in the order of its inputs."""
    definition = find(op.type)
    places = definition.state.writes if definition is not None else ()
    refs = [op.inputs[i] for i in places or () if i < len(op.inputs)]
    return [ref.op for ref in refs if ref is not None and graph[ref.op].type in VARIABLES]


def _wrt(
    graph: Graph, scope: GradientScope, known: Recognised, updated: Collection[str]
) -> Iterator[TensorRef]:
    """Where nothing is updated: what is read of it elsewhere, else all variables, else what is
    fed."""
    wrt = {*known.again.request.wrt}
    around = [op for op in graph if op.output() in wrt]
    variables = [op for op in around if is_trainable(op)]
    fed = [op for op in around if op.type == "Placeholder"]
    there = [op for op in (*variables, *fed) if op.output() in known.gradients]
    read = [op for op in there if _is_read(scope, known.gradients[op.output()])]
    wanted = {*updated} or {
        op.name for op in read or [o for o in there if o.type in VARIABLES] or fed
    }
    for op in around:
        has_none = op in variables and op.output() not in known.again.gradients
        if op.name in wanted or has_none:
            yield op.output()


def _is_read(scope: GradientScope, held: Found) -> bool:
    """Whether anything outside of the scope reads a gradient."""
    ref = held if isinstance(held, TensorRef) else held.values
    return any(edge.op not in scope.members for edge in scope.graph.consumers[ref.op])


def _origins(
    scope: GradientScope, seeds: Mapping[TensorRef, TensorRef], known: Recognised
) -> dict[str, str]:
    """What is made between two VJPs belongs to the one that reads it, or else to what it reads; a
    sum, to the operation whose output's gradient it is."""
    own = {start.op: loss.op for loss, start in seeds.items()}
    for ref, held in known.gradients.items():
        whole = (held,) if isinstance(held, TensorRef) else (held.values, held.indices)
        own.update({part.op: ref.op for part in whole if part.op not in own})
    readers = _readers(scope)
    found: dict[str, str] = {}
    for op in reversed(scope.members.values()):
        if op.origin:
            found[op.name] = op.origin
            continue
        after = {found[name] for name in readers.get(op.name, ()) if name in found} - {""}
        before = [_belonging(scope, ref.op) for ref in op.inputs if ref is not None]
        near = [*after] if len(after) == 1 else before[:1]
        found[op.name] = own.get(op.name) or next(iter(near), "")
    return {name: found[name] for name, op in scope.members.items() if found[name] != op.origin}


def _belonging(scope: GradientScope, name: str) -> str:
    """The forward operation that one belongs to, if it is known: itself, outside of the scope."""
    return scope.members[name].origin if name in scope.members else name


def _readers(scope: GradientScope) -> dict[str, list[str]]:
    """Member -> the members that wait for it."""
    found: dict[str, list[str]] = {}
    for op in scope.members.values():
        for name in predecessors(op):
            found.setdefault(name, []).append(op.name)
    return found
