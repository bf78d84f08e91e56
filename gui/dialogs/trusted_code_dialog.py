"""Documents whose Python may run, as the user decided; and taking that back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtWidgets import QDialogButtonBox, QPushButton, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.program.trust import code_trust
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.program.trust.trust_store import Decision
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.table_cells import Cell, RowModel

NONE = "There is none. The Python of the examples, as they came, always runs."
SOME = (
    "The Python of these documents runs without asking. If one is changed outside of Gradstep in "
    "more than its looks and notes, you are asked again."
)
MAY = {Permission.FULL: "with your rights", Permission.CONFINED: "without network and files"}
_DOCUMENT, _FUNCTIONS, _RUNS, _DECIDED, _USED = range(5)


class DecisionModel(RowModel[Decision]):
    """One row for each decision."""

    headers = ("document", "functions", "runs", "decided", "last opened")

    def cell(self, row: int, column: int) -> Cell:
        decision = self.rows[row]
        if column == _DOCUMENT:
            tip = "\n".join(filter(None, [decision.title, decision.place]))
            return Cell(Path(decision.place).name or decision.title or "a document", tip=tip)
        if column == _FUNCTIONS:
            return Cell(", ".join(decision.functions), code=True)
        if column == _RUNS:
            return Cell(MAY.get(decision.permission, decision.permission.value), "muted")
        time = decision.decided if column == _DECIDED else decision.used
        return Cell(_day(time), "muted", tip=time)


class TrustedCodeDialog(Dialog):
    """What is revoked is asked about again, also of the document that is open."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "trusted_dialog", "Trusted code", parent)
        self.said = self.add_text("", "muted")
        self.damage = self.add_text("", "problem")
        self.damage.setObjectName("trusted_dialog.damage")
        self.model = DecisionModel()
        self.table = FlatTable(
            lambda: workspace.theme,
            self.model,
            "trusted_dialog.table",
            (176, 160, 176, 88, 88),
            _FUNCTIONS,
        )
        self.table.setAccessibleName("Decisions")
        self.column.addWidget(self.table, 1)
        self._add_buttons()
        self.table.selectionModel().selectionChanged.connect(self._enable)
        self.resize(760, 420)
        self.refresh()

    def refresh(self) -> None:
        """Read what is there."""
        damage = code_trust.set_aside_damage()
        aside = ", ".join(str(path) for path in code_trust.store().damaged())
        told = words(damage) if damage is not None else aside and f"Set aside as damaged: {aside}"
        self.damage.setText(told)
        self.damage.setVisible(bool(told))
        self.model.show(code_trust.decisions())
        self.said.setText(SOME if self.model.rows else NONE)
        self._enable()

    def revoke(self, decisions: Sequence[Decision]) -> None:
        """Take decisions back."""
        try:
            commands.revoke_trust(self.workspace, [d.fingerprint for d in decisions])
        except GradstepError as error:
            self.complain(words(error))
        self.refresh()

    # -- inside ---------------------------------------------------------------------------------

    def _add_buttons(self) -> None:
        self.column.addWidget(self._wrong)
        box = QDialogButtonBox()
        self.one = self._button(box, "Revoke", "revoke")
        self.all = self._button(box, "Revoke all", "revoke_all")
        close = box.addButton("Close", QDialogButtonBox.ButtonRole.RejectRole)
        close.setObjectName("trusted_dialog.close")
        self.one.clicked.connect(lambda: self.revoke(self._selected()))
        self.all.clicked.connect(lambda: self.revoke(self.model.rows))
        box.rejected.connect(self.reject)
        self.column.addWidget(box)

    def _button(self, box: QDialogButtonBox, title: str, name: str) -> QPushButton:
        button = box.addButton(title, QDialogButtonBox.ButtonRole.ActionRole)
        button.setObjectName(f"trusted_dialog.{name}")
        button.setAutoDefault(False)
        return button

    def _selected(self) -> list[Decision]:
        rows = self.table.selectionModel().selectedRows()
        return [self.model.rows[index.row()] for index in rows]

    def _enable(self, *_: object) -> None:
        self.one.setEnabled(bool(self._selected()))
        self.all.setEnabled(bool(self.model.rows))


def _day(time: str) -> str:
    """An ISO time as the user's own day."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d}"
    except ValueError:
        return ""
