"""Which of several trainings on this machine to follow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from gradstep.core.errors import GradstepError
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.model.error_words import words
from gradstep.gui.model.training_search import FoundTraining, TrainingSearch
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.table_cells import Cell, RowModel

SOME = "These PyTorch loops are watched (with gradstep.watch) on this machine, by you."
NONE = (
    "No training of yours can be followed now. One that runs inside `with gradstep.watch(model, "
    "loss=…)` appears here."
)
_SCRIPT, _MODEL, _PROCESS, _STEP = range(4)


class FoundModel(RowModel[FoundTraining]):
    """A row for each training."""

    headers = ("script", "model", "process", "step")

    def cell(self, row: int, column: int) -> Cell:
        told = self.rows[row].greeting
        if column == _SCRIPT:
            return Cell(told.name, tip=told.script)
        if column == _MODEL:
            return Cell(told.title, "muted", tip=f"PyTorch {told.torch}")
        number = told.pid if column == _PROCESS else told.step
        return Cell(f"{number:,}" if column == _STEP else str(number), "muted", right=True)


class FollowedDialog(Dialog):
    """A click chooses, and Enter follows."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "followed_dialog", "Follow a training", parent)
        self.said = self.add_text("", "muted")
        self.model = FoundModel()
        self.table = FlatTable(
            lambda: workspace.theme,
            self.model,
            "followed_dialog.table",
            (200, 160, 80, 80),
            _MODEL,
        )
        self.table.setAccessibleName("Trainings")
        self.column.addWidget(self.table, 1)
        self.yes = self.add_buttons("Follow")
        self.table.selectionModel().selectionChanged.connect(self._enable)
        self.table.doubleClicked.connect(self.finish)
        self.resize(600, 300)
        self.show_found(())
        try:
            TrainingSearch(self).begin(self.show_found)
        except GradstepError as error:
            self.complain(words(error))

    def show_found(self, found: Sequence[FoundTraining]) -> None:
        """These there are; the first is chosen."""
        self.model.show(found)
        self.said.setText(SOME if found else NONE)
        if found:
            self.table.selectRow(0)
        self._enable()

    def apply(self) -> str:
        rows = self.table.selectionModel().selectedRows()
        if not rows:
            return "Choose a training first"
        commands.follow_training(self.workspace, self.model.rows[rows[0].row()])
        return ""

    def _enable(self, *_: object) -> None:
        self.yes.setEnabled(bool(self.table.selectionModel().selectedRows()))
