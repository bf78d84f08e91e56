"""The box that says whether a gradient is stopped on a wire, on the branch that is shown."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QFont

from gradstep.core.graph.model import Edge
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.core.protocol.branch_queries import current_branch
from gradstep.gui import commands
from gradstep.gui.look.plain_text import plain
from gradstep.gui.model.tried_document import tried
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.check_box import Check


def is_stopped(workspace: Workspace, edge: Edge) -> bool:
    """Whether no gradient flows back over that wire."""
    document = tried(workspace)
    return original_edge(document.graph, edge) in document.request.stopped_edges


def edited_branch(workspace: Workspace) -> str:
    """The name of the branch that is shown, if it runs an edited program; else ""."""
    stop = workspace.stop
    if stop is None or tried(workspace) is workspace.document:
        return ""
    return current_branch(stop.branches)


class StopBox(Check):
    """Checked where it is stopped. A click edits the document; where a branch is shown that runs an
    edited program, that program, on a branch that leaves this one."""

    def __init__(self, workspace: Workspace, name: str, font: QFont | None = None) -> None:
        super().__init__(lambda: workspace.theme, "", name, font)
        self._workspace = workspace
        self._edge: Edge | None = None
        self._branch = ""
        self.toggled.connect(self._toggle)

    def show_edge(self, edge: Edge, text: str) -> None:
        """Be that of `edge`, with these words beside it."""
        space, self._edge = self._workspace, edge
        self._branch = edited_branch(space)
        self.say(text)
        self._check(is_stopped(space, edge))
        tip = self.tr("Let no gradient flow back over this wire")
        if self._branch:
            tip = self.tr("{}, on a branch that leaves {}").format(tip, self._branch)
        self.setToolTip(plain(tip))

    def _check(self, on: bool) -> None:
        with QSignalBlocker(self):
            self.setChecked(on)
        self.update()

    def _toggle(self, on: bool) -> None:
        if self._edge is None:
            return
        if not self._branch:
            commands.toggle_stop(self._workspace, self._edge)
            return
        self._check(not on)  # until the branch is there, if it can be
        commands.try_stop(self._workspace, self._edge)
