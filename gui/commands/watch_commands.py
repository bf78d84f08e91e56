"""Watching expressions: what is shown wherever the debugger stops."""

from __future__ import annotations

from gradstep.core.document import watch_edits
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.workspace import Workspace


@says_why
def add_watch(workspace: Workspace, text: str) -> bool:
    """Watch an expression, or the tensor of that name. Whether it is watched now."""
    document = watch_edits.add_watch(workspace.document, text)
    if document is not workspace.document:
        workspace.edit("Watch", document)
    return True


@says_why
def set_watch(workspace: Workspace, place: int, text: str) -> None:
    """Another expression in the place of one."""
    workspace.edit("Edit watch", watch_edits.set_watch(workspace.document, place, text))


def remove_watch(workspace: Workspace, place: int) -> None:
    """Show that one no more."""
    workspace.edit("Remove watch", watch_edits.remove_watch(workspace.document, place))


def watch_selected(workspace: Workspace) -> None:
    """Watch what the selected nodes give, and show the panel."""
    document = workspace.document
    for name in workspace.selection:
        if name in document.graph:
            document = watch_edits.add_watch(document, name)
    if document is not workspace.document:
        workspace.edit("Watch", document)
    workspace.ask_window("show", "watches")
