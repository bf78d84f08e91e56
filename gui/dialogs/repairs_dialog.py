"""What edits would do that may mend something: the effect of each, and whether to take it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradstep.core.protocol.messages import RemedyInfo, Tried
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, Tone, mono, sans
from gradstep.gui.model.workspace import Workspace

_Act = Callable[[Workspace, RemedyInfo], None]
_NOTHING = "Ask why a value or a gradient is as it is: what may mend it is tried here."
_MOST = 600  # characters of what is to be mended


class RepairsDialog(Dialog):
    """One block for each edit; the run as it is stands beside the run with it."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "repairs_dialog", "Try what mends it", parent)
        self._trials = workspace.repairs
        self.add_text((self._trials.title or _NOTHING)[:_MOST], "muted")
        self._page = QWidget()
        self._blocks = QVBoxLayout(self._page)
        self._blocks.setContentsMargins(0, 0, GRID, 0)
        self._blocks.setSpacing(2 * GRID)
        area = QScrollArea()
        area.setObjectName("repairs_dialog.list")
        area.setAccessibleName("Edits that may mend it")
        area.setWidget(self._page)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(area, 1)
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in box.buttons():
            button.setIcon(QIcon())  # the word says it
            button.setObjectName("repairs_dialog.close")
        box.rejected.connect(self.reject)
        self.column.addWidget(box)
        self.resize(620, 560)
        self._show()
        self._trials.changed.connect(self._show)
        self.finished.connect(self._trials.end)

    def _show(self) -> None:
        while (item := self._blocks.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        pairs = zip(self._trials.remedies, self._trials.found, strict=True)
        for number, (remedy, found) in enumerate(pairs):
            self._blocks.addWidget(self._block(number, remedy, found))
        self._blocks.addStretch(1)

    def _block(self, number: int, remedy: RemedyInfo, found: Tried | str | None) -> QWidget:
        block = QWidget()
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self._label(remedy.label, "text", strong=True))
        if found is None:
            column.addWidget(self._label("Trying it…", "muted"))
        elif isinstance(found, str):
            column.addWidget(self._label(found, "problem"))
        else:
            column.addWidget(self._label(found.text, "text"))
            column.addWidget(self._table(found))
            column.addLayout(self._buttons(number, remedy))
        return block

    def _table(self, found: Tried) -> QWidget:
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(GRID, 0, 0, 0)
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(3, 1)
        for column, word in enumerate(("", "as it is", "with it")):
            grid.addWidget(self._label(word, "muted"), 0, column)
        for line, row in enumerate(found.rows, 1):
            tone: Tone = "muted" if row.before == row.after else "text"
            what = self._label(row.what, tone)
            what.setWordWrap(False)
            grid.addWidget(what, line, 0)
            for column, text in ((1, row.before), (2, row.after)):
                cell = self._label(text, tone)
                cell.setFont(mono(12))
                cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                grid.addWidget(cell, line, column)
        return table

    def _buttons(self, number: int, remedy: RemedyInfo) -> QHBoxLayout:
        row = QHBoxLayout()
        acts = (
            ("take", "Take", commands.take_repair, "Make this edit in the document"),
            (
                "branch",
                "On a branch",
                commands.branch_repair,
                "Step through it; nothing is edited",
            ),
        )
        for name, text, act, tip in acts:
            button = QPushButton(text)
            button.setObjectName(f"repairs_dialog.{name}.{number}")
            button.setAccessibleName(f"{text}: {remedy.label}")
            button.setToolTip(plain(tip))
            button.setAutoDefault(False)
            button.clicked.connect(partial(self._do, act, remedy))
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _do(self, act: _Act, remedy: RemedyInfo, *_: object) -> None:
        self.accept()
        act(self.workspace, remedy)

    def _label(self, text: str, tone: Tone, strong: bool = False) -> Label:
        label = Label(text)
        label.setWordWrap(tone != "muted" or len(text) > 30)
        label.setFont(sans(strong=strong))
        self._color(label, tone)
        return label
