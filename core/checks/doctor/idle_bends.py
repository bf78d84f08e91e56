"""Stops and overrides that change no gradient that anybody has asked for."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import plural
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.document.requests import requests
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Edge, TensorRef


def find_idle_stops(x: Examined) -> Iterator[Finding]:
    """Those that no gradient arrives at, and those of what is not in the graph."""
    request = x.document.request
    derived = _derived(x)
    tensors = sorted(request.stops, key=str)
    idle = [t for t in tensors if not any(_holds_back(x, one, t) for one in derived)]
    wires = sorted(request.stopped_edges, key=str)
    ends = [w for w in wires if not any(_ends_at(one, w) for one in derived)]
    found: list[TensorRef | Edge] = [*idle, *ends]
    for at in found if derived or not requests(x.document) else ():
        if way_to(x.document.graph, at.op):
            continue  # inside of a loop, whose gradient is another loop
        node = at.op if at.op in x.document.graph else ""
        name = at.short if isinstance(at, TensorRef) else f"the wire {at}"
        text = f"the stop at {name} changes no gradient: {_why(x, at)}"
        yield Finding(node, text, "take it away", "info", Remedy("unstop", (str(at),)))


def find_idle_overrides(x: Examined) -> Iterator[Finding]:
    """Those whose operations are there, of which no gradient is asked for. Others are a problem
    of their own."""
    if not _derived(x):
        return
    used = {name for one in _derived(x) for name in one.custom}
    for override in x.document.request.overrides:
        there = [op for op in x.drawn if override.matches(op)] if override.enabled else []
        if there and not any(op.name in used for op in there):
            wanted = any(op.name in x.behind_losses for op in there)
            lacks = "leads from there to what gradients are asked for"
            where = f"nothing {lacks}" if wanted else "no loss is computed from them"
            text = (
                f"{override.gradient} in the place of {override.target}'s own gradient is never "
                f"called: it matches {len(there)} {plural(there, 'operation', 'operations')}, but "
                f"{where}"
            )
            names = (override.gradient, override.target, override.kind.value)
            fix = "name what the loss is computed from, or switch it off"
            yield Finding(there[0].name, text, fix, "info", Remedy("unbend", names))


def _derived(x: Examined) -> list[Differentiation]:
    """How the gradients came about; none where one of them could not be made."""
    own = [one for one in x.program.derived if not one.imported]
    return own if len(own) >= len(requests(x.document)) else []


def _holds_back(x: Examined, one: Differentiation, stop: TensorRef) -> bool:
    """Whether a gradient arrives at the tensor, and could go on."""
    return stop in one.gradients and bool(x.graph[stop.op].inputs)


def _ends_at(one: Differentiation, wire: Edge) -> bool:
    end = one.blocked.get(wire)
    return end is not None and end.cause == "stopped"


def _why(x: Examined, at: TensorRef | Edge) -> str:
    if at.op not in x.document.graph:
        return f"there is no operation {at.op}"
    if not x.losses:
        return "nothing is differentiated"
    if at.op not in x.behind_losses:
        return f"no loss is computed from {at.op}"
    if not x.graph[at.op].inputs:
        return f"no wire leads on to {at.op}, where gradients end anyway"
    return "no gradient that is asked for comes by"
