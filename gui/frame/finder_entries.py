"""What the finder offers: every action (the command palette), or every node."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gradstep.core.graph.scopes import parents
from gradstep.gui import commands
from gradstep.gui.dialogs.finder import Entry, Finder
from gradstep.gui.frame.action_record import Action
from gradstep.gui.frame.action_set import ActionSet
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace


def command_palette(workspace: Workspace, actions: ActionSet, window: QWidget) -> Finder:
    """All actions with their keys, recently used ones first, those that cannot be done now last."""
    actions.refresh()
    used = {id: place for place, id in enumerate(settings().used_actions)}
    rows = [row for row, _ in actions if row.id != "view.palette"]
    rows.sort(key=lambda row: (not actions[row.id].isEnabled(), used.get(row.id, len(used))))

    def run(row: Action) -> None:
        settings().add_used_action(row.id)
        actions.run(row.id)

    entries = [
        Entry(
            f"{row.menu}: {actions[row.id].text().rstrip('…')}",
            lambda row=row: run(row),  # type: ignore[misc]
            row.shortcut,
            row.tip,
            actions[row.id].isEnabled(),
        )
        for row in rows
    ]
    return Finder(workspace.theme, entries, "Type a command", "palette", window)


def node_finder(workspace: Workspace, window: QWidget) -> Finder:
    """All nodes and scopes by name and type; choosing one goes there."""
    scopes = dict.fromkeys(scope for op in workspace.shown for scope in parents(op.name))
    things = [(op.name, op.type) for op in workspace.shown]
    things += [(scope, "scope") for scope in scopes if scope not in workspace.shown]
    entries = [
        Entry(name, lambda name=name: commands.reveal(workspace, name), kind)  # type: ignore[misc]
        for name, kind in things
    ]
    return Finder(workspace.theme, entries, "Find a node", "node_finder", window)
