"""What can be done with a branch: its menu in the timeline."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from gradstep.gui import commands
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.model.workspace import Workspace


class BranchMenu(QMenu):
    """Of the branch `name`; it is gone once it is closed."""

    def __init__(self, workspace: Workspace, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.setObjectName("timeline.branch_menu")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._workspace, self._name = workspace, name
        stop = workspace.stop
        branches = [] if stop is None else stop.branches
        branch = next((each for each in branches if each.name == name), None)
        if branch is None:
            return
        go = add_row(self, self.tr("Go to it"))
        go.triggered.connect(lambda: commands.switch_branch(workspace, name))
        go.setEnabled(not branch.current)
        hold = add_row(self, self.tr("Compare with what is shown"))
        hold.triggered.connect(lambda: commands.compare_branch(workspace, name))
        hold.setEnabled(not branch.current)
        add_row(self, self.tr("Rename…")).triggered.connect(self._rename)
        keep = add_row(self, self.tr("Keep branches in the document"))
        keep.triggered.connect(lambda: commands.keep_branches(workspace))
        if branch.edits:
            take = add_row(self, self.tr("Make its edits in the document"))
            take.triggered.connect(lambda: commands.take_edits(workspace, name))
        drop = add_row(self, self.tr("Drop"))
        drop.triggered.connect(lambda: commands.drop_branch(workspace, name))
        drop.setEnabled(bool(branch.parent))

    def _rename(self) -> None:
        title, asked = self.tr("Rename branch"), self.tr("Name:")
        to, given = QInputDialog.getText(self.parentWidget(), title, asked, text=self._name)
        if given and to.strip():
            commands.rename_branch(self._workspace, self._name, to)
