"""The node that the debugger stands at, as a user sees it."""

from __future__ import annotations

from gradstep.core.graph.foreign_origin import FOREIGN_SCOPE
from gradstep.core.graph.model import Graph
from gradstep.gui.model.workspace import Workspace


def standing_node(workspace: Workspace) -> str:
    """Before a foreign operation, a part of that: its weights are read first, but nobody stepped to
    them. "" where it is not known yet where that is."""
    stop, program = workspace.stop, workspace.program
    if stop is None:
        return ""
    graph = workspace.document.graph
    if workspace.document.recorded is None or stop.error is not None or stop.node not in graph:
        return stop.node
    reader, scope = _reader(graph, stop.node)
    before = [] if program is None else program.steps[stop.step - 1 : stop.step]
    goes_on = any(_reader(graph, step.origin)[1] == scope for step in before)
    return stop.node if goes_on or not scope else reader


def _reader(graph: Graph, name: str) -> tuple[str, str]:
    """What belongs to a foreign operation, and the scope of that: the node itself, or of a weight,
    and whatever else reads nothing, its first reader. The scope is "" where there is none."""
    op = graph.operations.get(name)
    if op is None:
        return name, ""
    if FOREIGN_SCOPE in op.attrs or op.inputs:
        return name, str(op.attrs.get(FOREIGN_SCOPE, ""))
    readers = (graph.operations.get(edge.op) for edge in graph.consumers[name])
    found = next((r for r in readers if r is not None and FOREIGN_SCOPE in r.attrs), None)
    return (name, "") if found is None else (found.name, str(found.attrs[FOREIGN_SCOPE]))
