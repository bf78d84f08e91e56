"""Asking all runs where something was so, and going to an answer."""

from __future__ import annotations

from gradstep.core.debug.breaks.expression_names import written_by_name
from gradstep.core.protocol.messages import MomentRow
from gradstep.gui.commands.go_to_cause import go_to_place
from gradstep.gui.model.workspace import Workspace


def go_to_moment(workspace: Workspace, row: MomentRow) -> None:
    """Stand right behind the step, in whatever run or loop, and show its node."""
    go_to_place(workspace, row.node, row.position)


def who_wrote_selected(workspace: Workspace) -> None:
    """Ask which step gave what is selected the value that it has here, and show the answer."""
    for name in [name for name in workspace.selection if name in workspace.shown][:1]:
        workspace.queries.ask(written_by_name(name), "last")
        workspace.ask_window("show", "queries")
