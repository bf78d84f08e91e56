"""Which node the inspector and the tensor panel show, and what a failed step marked in it."""

from __future__ import annotations

from gradstep.core.graph.foreign_origin import foreign_results
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.declare.table import find
from gradstep.core.protocol.messages import ErrorInfo
from gradstep.gui.model.selection import selected_unit
from gradstep.gui.model.standing_node import standing_node
from gradstep.gui.model.workspace import Workspace


def inspected_name(workspace: Workspace) -> str | None:
    """The one selected node; of a foreign operation, whose parts are selected together, the one
    that gives its result; without a selection, the node that the debugger stands at."""
    if len(workspace.selection) == 1:
        return workspace.selection[0]
    if workspace.selection:
        return _foreign_result(workspace)
    stop = workspace.stop
    if workspace.selected_edge is not None or stop is None:
        return None
    node = standing_node(workspace)
    return node if node in workspace.shown else None


def _foreign_result(workspace: Workspace) -> str | None:
    unit, graph = selected_unit(workspace), workspace.document.graph
    if not unit.endswith("/"):
        return None
    return foreign_results(graph).get(unit[:-1])


def error_at(workspace: Workspace, name: str) -> ErrorInfo | None:
    """The error that the current step raised at this node, or at an operation made for it."""
    error = workspace.stop.error if workspace.stop is not None else None
    if error is None or error.node is None or workspace.stop is None:
        return None
    here = error.node == name or (workspace.stop.node == name and error.node == workspace.stop.op)
    return error if here else None


def marked_indexes(workspace: Workspace, name: str) -> tuple[tuple[int, ...], ...]:
    """Elements of the node's tensors that the current error is about: of the failed operation's
    result, or of the input that its message names."""
    error = workspace.stop.error if workspace.stop is not None else None
    if error is None or not error.index:
        return ()
    blamed = blamed_tensor(workspace.shown, error)
    place = blamed.op if blamed is not None else error.node
    return (tuple(error.index),) if place == name else ()


def blamed_tensor(graph: Graph, error: ErrorInfo) -> TensorRef | None:
    """The input whose element is wrong: the one wired to `indices` for an error that begins
    "indices[2] = 6 is not in [0, 5)"; None when the message names none."""
    word, bracket, _ = error.message.partition("[")
    if not bracket or error.node is None or error.node not in graph:
        return None
    op = graph[error.node]
    definition = find(op.type)
    names = definition.arity(len(op.inputs)) if definition is not None else ()
    return dict(zip(names, op.inputs, strict=False)).get(word.strip())
