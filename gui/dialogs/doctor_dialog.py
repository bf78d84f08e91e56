"""What this machine has, and how it gets what it lacks: `gradstep doctor`, with what to type."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from itertools import groupby

from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gradstep.core.errors import GradstepError
from gradstep.core.host.machine_report import MachineFact, as_text, examine
from gradstep.core.version import version
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.text_copying import copy_text
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import GRID, Tone, mono, sans
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import Wrapped

NAMES = 144  # pixels; the longest that a name takes before it is wrapped

THIS = "this machine"
LOOKING = "Looking at {}…"
LACKS, HAS = "What it lacks", "What it has"


class DoctorDialog(Dialog):
    """Findings come from a process of their own, while the dialog says that it looks."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        machine = workspace.bridge.machine  # where the engine runs
        super().__init__(workspace, "doctor_dialog", f"What {machine or THIS} has", parent)
        self._looking = LOOKING.format(machine or THIS)
        self.findings: list[MachineFact] = []
        self._background = Background(self)
        self._said = self.add_text("", "muted")
        self._said.setObjectName("doctor_dialog.said")
        self._page = QWidget()
        self._rows = QVBoxLayout(self._page)
        self._rows.setContentsMargins(0, 0, GRID, 0)
        self._rows.setSpacing(GRID)
        self.column.addWidget(scroll_area(self._page), 1)
        self._add_buttons()
        self.resize(640, 560)
        self.look()

    def look(self) -> None:
        """Examine the machine on which the engine runs, anew."""
        self._say(self._looking)
        for button in (self._again, self._copy_all):
            button.setEnabled(False)
        engine = self.workspace.bridge.engine
        self._background.run(lambda: examine(engine), self._show, self._fail)

    def report(self) -> str:
        """All of it as text, for a bug report."""
        system = f"Gradstep {version()} on {platform.platform()}"
        return f"{system}\n{as_text(self.findings)}\n"

    # -- inside ---------------------------------------------------------------------------------

    def _add_buttons(self) -> None:
        box = QDialogButtonBox()
        roles = QDialogButtonBox.ButtonRole
        self._copy_all = box.addButton("Copy all", roles.ActionRole)
        self._again = box.addButton("Look again", roles.ActionRole)
        close = box.addButton("Close", roles.RejectRole)
        for button, name in (
            (self._copy_all, "copy_all"),
            (self._again, "again"),
            (close, "close"),
        ):
            button.setObjectName(f"doctor_dialog.{name}")
            button.setAutoDefault(False)
        self._copy_all.setToolTip("Everything that is said here, for a bug report")
        self._copy_all.clicked.connect(lambda: copy_text(self._copy_all, self.report()))
        self._again.clicked.connect(self.look)
        box.rejected.connect(self.reject)
        self.column.addWidget(box)

    def _say(self, text: str) -> None:
        self._said.setText(text)
        self._said.setVisible(bool(text))

    def _fail(self, error: GradstepError) -> None:
        self._say(words(error))
        self._again.setEnabled(True)

    def _show(self, findings: Sequence[MachineFact]) -> None:
        self.findings = list(findings)
        self._say("")
        for button in (self._again, self._copy_all):
            button.setEnabled(True)
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._add_section(LACKS, [f for f in findings if not f.ok])
        self._add_section(HAS, [f for f in findings if f.ok])
        self._rows.addStretch(1)

    def _add_section(self, title: str, findings: Sequence[MachineFact]) -> None:
        if not findings:
            return
        heading = Label(title)
        heading.setFont(sans(strong=True))
        self._rows.addWidget(heading)
        for names, finding in _merged(findings):
            self._rows.addWidget(Row(self.workspace, names, finding))
        self._rows.addSpacing(GRID)


class Row(QWidget):
    """A sign, a name, what was found; below it what to do, and what to type for that."""

    def __init__(self, workspace: Workspace, names: str, finding: MachineFact) -> None:
        super().__init__()
        self._theme = lambda: workspace.theme
        self.setAccessibleName(f"{names}: {'there' if finding.ok else 'missing'}. {finding.text}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        sign = self._text("✓" if finding.ok else "–", "update" if finding.ok else "muted", True)
        sign.setFixedWidth(2 * GRID)
        name = self._text(names, "text", code=True)
        name.setFixedWidth(NAMES)
        column = QVBoxLayout()
        column.setSpacing(GRID // 2)
        column.addWidget(self._text(finding.text, "muted" if finding.ok else "text"))
        if finding.advice:
            column.addWidget(self._text(finding.advice, "muted"))
        for command in () if finding.ok else finding.commands:
            column.addLayout(_command_row(command))
        for part in (sign, name):
            row.addWidget(part)
        row.addLayout(column, 1)

    def _text(self, text: str, tone: Tone, code: bool = False) -> Wrapped:
        label = Wrapped(self._theme, "", tone, code)
        label.setText(text)
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        return label


def _command_row(command: str) -> QHBoxLayout:
    """What to type, and a button that copies it."""
    field = QLineEdit(command)
    field.setCursorPosition(0)  # a long one shows its beginning
    field.setReadOnly(True)
    field.setFont(mono(12))
    field.setObjectName(f"doctor_dialog.command.{command}")
    field.setAccessibleName(command)
    button = QPushButton("Copy")
    button.setObjectName(f"doctor_dialog.copy.{command}")
    button.setAccessibleName(f"Copy {command}")
    button.setAutoDefault(False)
    button.clicked.connect(lambda: copy_text(button, command))
    row = QHBoxLayout()
    row.setSpacing(GRID)
    row.addWidget(field, 1)
    row.addWidget(button)
    return row


def _merged(findings: Iterable[MachineFact]) -> list[tuple[str, MachineFact]]:
    """Findings that say the same of several things in a row, as one."""
    same = groupby(findings, key=lambda f: (f.ok, f.text, f.fix, tuple(f.commands)))
    groups = [list(group) for _, group in same]
    return [(", ".join(each.name for each in group), group[0]) for group in groups]
