"""Which lints look at documents: each can be switched off."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from gradstep.core.checks.doctor.lint_subjects import SUBJECTS, LintSubject
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, sans
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.check_box import Check

_INDENT = 22  # of what is said of a lint, under its words


class LintsDialog(Dialog):
    """A box for each, and what goes wrong with what it finds."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "lints_dialog", "Lints", parent)
        self.add_text(
            "What the Problems panel looks for while it is shown. In a terminal gradstep check "
            "says it, but for those that --without names.",
            "muted",
        )
        page = QWidget()
        self._rows = QVBoxLayout(page)
        self._rows.setSpacing(GRID // 2)
        off = settings().lints_off
        self.boxes = {subject.code: self._row(subject, off) for subject in SUBJECTS}
        area = QScrollArea()
        area.setObjectName("lints_dialog.list")
        area.setWidget(page)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(area, 1)
        self.add_buttons("Apply")
        self.resize(620, 560)

    def _row(self, subject: LintSubject, off: list[str]) -> Check:
        box = Check(
            lambda: self.workspace.theme,
            subject.title,
            f"lints_dialog.{subject.code}",
            sans(strong=True),
        )
        box.setToolTip(plain(subject.code))
        box.setChecked(subject.code not in off)
        why = Label(subject.why)
        why.setWordWrap(True)
        why.setContentsMargins(_INDENT, 0, 0, GRID)
        self._color(why, "muted")
        self._rows.addWidget(box)
        self._rows.addWidget(why)
        return box

    def apply(self) -> str:
        off = [code for code, box in self.boxes.items() if not box.isChecked()]
        commands.leave_out_lints(self.workspace, *off)
        return ""
