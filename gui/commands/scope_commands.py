"""Scopes as the user makes them: nodes put into one, and a scope taken away."""

from __future__ import annotations

from gradstep.core.document import scope_edits
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.look.count_text import count_of
from gradstep.gui.model.selection import selected_scope, selected_units
from gradstep.gui.model.workspace import Workspace


@says_why
def group_selection(workspace: Workspace) -> None:
    """Put the selected nodes, and closed scopes, into a new scope, whose name is typed next."""
    units = selected_units(workspace)
    document, scope, moved = scope_edits.group(workspace.document, units)
    workspace.edit(f"Group {count_of(len(units), 'node')}", document, renamed=moved)
    workspace.select(moved.values())
    workspace.ask_window("rename", f"{scope}/")


@says_why
def dissolve_scope(workspace: Workspace) -> None:
    """Take away the selected scope, or the innermost one around all that is selected; what was in
    it stays where it is, and selected."""
    scope = selected_scope(workspace)
    document, moved = scope_edits.dissolve(workspace.document, scope)
    workspace.edit(f"Dissolve {scope}", document, renamed=moved)
    workspace.select(moved.values())
