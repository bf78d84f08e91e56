"""Going to what was found: the scopes that hide it are opened, and the canvas shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from gradstep.core.graph.model import Edge
from gradstep.core.graph.scopes import is_inside, parents
from gradstep.core.protocol.messages import StepInfo
from gradstep.gui.model.standing_node import standing_node
from gradstep.gui.model.workspace import Workspace


def reveal(workspace: Workspace, *names: str, edge: Edge | None = None, at: str = "") -> None:
    """Select operations, or one wire, open the closed scopes around them, bring them into view and
    flash them.

    A name may be an operation's, a tensor's, a scope's, or that of an operation which was derived:
    the canvas then shows where it came from. at: the one among many to look at; what is around the
    others stays as it is.
    """
    if edge is not None:
        source = workspace.shown.source(edge)
        seen = [edge.op, *([] if source is None else [source.op])]
        chosen: list[str] = []
    else:
        origins = _origins(workspace)
        chosen = [*chain.from_iterable(_selected(workspace, origins, name) for name in names)]
        seen = [_drawn(workspace, origins, name) for name in ([at] if at else names)]
    seen = [name for name in seen if name]
    if not seen:
        gone = at or next(iter(names), "it")
        workspace.say(f"{gone} is not in the graph any more")
        return
    _open_around(workspace, seen)
    workspace.select(chosen, edge)
    workspace.ask_window("reveal", " ".join(seen))  # no name has a space


def open_scope(workspace: Workspace, scope: str) -> None:
    """Open a closed scope, and those around it, select all that is in it and bring it into view."""
    _open_around(workspace, [f"{scope}/"])
    reveal(workspace, scope)


def show_stop(workspace: Workspace) -> None:
    """Open the closed scopes around where the debugger stands, and bring that into view; what is
    selected stays so."""
    node = standing_node(workspace)
    if node in workspace.shown and _open_around(workspace, [node]):
        workspace.ask_window("reveal", node)


def reveal_start(workspace: Workspace) -> None:
    """Go to the operation that the selected wire comes from."""
    edge = workspace.selected_edge
    source = None if edge is None else workspace.shown.source(edge)
    if source is not None:
        reveal(workspace, source.op)


def reveal_end(workspace: Workspace) -> None:
    """Go to the operation that the selected wire leads to."""
    if workspace.selected_edge is not None:
        reveal(workspace, workspace.selected_edge.op)


def set_collapsed(workspace: Workspace, collapsed: frozenset[str], label: str) -> None:
    """Choose which scopes are one box each, as an edit of the document's view."""
    if collapsed != workspace.document.view.collapsed:
        view = replace(workspace.document.view, collapsed=collapsed)
        workspace.edit(label, workspace.document.with_(view=view))


def _open_around(workspace: Workspace, names: Iterable[str]) -> bool:
    """Open what is closed around operations, as an edit; whether anything was."""
    collapsed = workspace.document.view.collapsed
    hiding = {scope for name in names for scope in parents(name) if scope in collapsed}
    if hiding:
        inmost = max(hiding, key=len)
        label = f"Open {inmost}" if len(hiding) == 1 else f"Open {len(hiding)} scopes"
        set_collapsed(workspace, collapsed - hiding, label)
    return bool(hiding)


def _origins(workspace: Workspace) -> Mapping[str, StepInfo]:
    return workspace.debugger.index.steps


def _selected(workspace: Workspace, origins: Mapping[str, StepInfo], name: str) -> list[str]:
    """The operations that a name stands for."""
    op = name.partition(":")[0]
    if op in workspace.shown or op in origins:
        return [op]
    return [other for other in workspace.shown.operations if is_inside(other, op)]


def _drawn(workspace: Workspace, origins: Mapping[str, StepInfo], name: str) -> str:
    """The operation or scope on the canvas that a name leads to; "" for none."""
    op = name.partition(":")[0]
    if op in workspace.shown:
        return op
    if op in origins:
        origin = origins[op].origin
        return origin if origin in workspace.shown else ""
    return op if any(is_inside(other, op) for other in workspace.shown.operations) else ""
