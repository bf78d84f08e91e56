"""The node that the debugger stands at, as a user sees it."""

from __future__ import annotations

from gradstep.core.graph.foreign_origin import first_reader
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
    reader, scope = first_reader(graph, stop.node)
    before = [] if program is None else program.steps[stop.step - 1 : stop.step]
    goes_on = any(first_reader(graph, step.origin)[1] == scope for step in before)
    return stop.node if goes_on or not scope else reader
