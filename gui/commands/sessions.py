"""Several sessions of one graph: making them, going to another, copying variables between them."""

from __future__ import annotations

from collections.abc import Sequence

from core.host.messages import ManageSessions
from gui.workspace import Workspace


def new_session(workspace: Workspace) -> None:
    """One more, whose variables have their initial values; it is shown."""
    _ask(workspace, "new", _unused_name(workspace))


def duplicate_session(workspace: Workspace) -> None:
    """One more, which goes on from the values of the one that is shown."""
    _ask(workspace, "duplicate", _unused_name(workspace))


def delete_session(workspace: Workspace) -> None:
    """End the one that is shown."""
    _ask(workspace, "delete", workspace.sessions.current)


def switch_session(workspace: Workspace, name: str) -> None:
    """Show another one: its values, its runs, where it stands."""
    _ask(workspace, "switch", name)


def copy_variables(workspace: Workspace, source: str, target: str, wanted: Sequence[str]) -> None:
    """Copy values, as they are now; see core.host.messages.ManageSessions for `wanted`."""
    request = ManageSessions(command="copy", source=source, target=target, wanted=[*wanted])
    workspace.sessions.ask(request)


def _ask(workspace: Workspace, command: str, name: str) -> None:
    workspace.sessions.ask(ManageSessions(command=command, name=name))


def _unused_name(workspace: Workspace) -> str:
    """`session 2`, or the next number that is free."""
    taken = {session.name for session in workspace.sessions.found}
    number = 2
    while f"session {number}" in taken:
        number += 1
    return f"session {number}"
