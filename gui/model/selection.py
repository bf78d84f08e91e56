"""The selection as one thing: the operation, or the whole scope, that is selected."""

from __future__ import annotations

from gradstep.core.graph.scopes import is_inside, parents
from gradstep.gui.model.workspace import Workspace


def selected_unit(workspace: Workspace) -> str:
    """What is selected if it is one thing: an operation's name, or a scope's with a slash behind;
    "" for anything else. Of one operation alone in a scope it is the scope that is closed."""
    chosen = frozenset(workspace.selection)
    first = min(chosen, default="")
    if first not in workspace.shown:
        return ""
    collapsed = workspace.document.view.collapsed
    scopes = [s for s in parents(first) if len(chosen) > 1 or s in collapsed]
    for scope in scopes:
        if chosen == {name for name in workspace.shown.operations if is_inside(name, scope)}:
            return f"{scope}/"
    return first if len(chosen) == 1 else ""
