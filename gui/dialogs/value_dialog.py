"""Giving the value that is fed to a placeholder, or that a variable or constant has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from gradstep.core.data.array_files import SUFFIXES
from gradstep.core.data.generator_calls import signature
from gradstep.core.data.generators import GENERATORS
from gradstep.core.data.value_text import RowsMisfitError
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Constant, Operation
from gradstep.gui import commands
from gradstep.gui.dialogs.code_view import CodeView
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.file_choice import ask_folder, ask_open
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.model.error_words import words
from gradstep.gui.model.value_place import ValuePlace, place_here, place_of
from gradstep.gui.model.value_reader import ValueReader, read_now
from gradstep.gui.model.workspace import Workspace

SHOWN = 4096  # elements; larger values are replaced, not edited
_PAUSE = 250  # milliseconds after the last key until a file is looked at
_EXAMPLES = """[1, 2]
rows pasted from a spreadsheet
normal(0, 0.1, seed=1)
@FILE.npy
@FOLDER/*.png | scale(1/255)"""


class ValueDialog(Dialog):
    """Numbers, a paste, a generator or a file: checked against dtype and shape while it is typed. A
    number alone is that for every element, where the shape is known."""

    _id = "value_dialog"

    def __init__(self, workspace: Workspace, op: Operation, parent: QWidget | None = None) -> None:
        self._place = self._find_place(workspace, op)
        title = f"{self._place.words} {op.name}"
        super().__init__(workspace, self._id, title, parent)
        self._kind = self.add_text(str(self._place.kind), "muted")
        self._kind.setFont(mono())
        self.text = CodeView(workspace.theme, _shown(self._place.value), f"{self._id}.text")
        self.text.setAccessibleName(title)
        self.text.setPlaceholderText(_replaced(self._place.value) + _EXAMPLES)
        self.text.setAcceptDrops(False)  # the dialog takes files
        self.setAcceptDrops(True)
        self.column.addWidget(self.text, 1)
        self._fits = Label()
        self._fits.setObjectName(f"{self._id}.fits")
        self._fits.setWordWrap(True)
        self.column.addWidget(self._fits)
        self.column.addLayout(self._build_sources())
        self._apply = self.add_buttons("Apply")
        self._value: Constant | None = None
        self._reader = ValueReader(self)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._read)
        self.text.textChanged.connect(self._check)
        self.resize(480, 320)
        self._check()
        self.text.selectAll()

    @staticmethod
    def _find_place(workspace: Workspace, op: Operation) -> ValuePlace:
        return place_of(workspace, op)

    def apply(self) -> str:
        if self._value is None:
            return self._fits.text()
        commands.put_value(self.workspace, self._place, self._value)
        return ""

    def load(self, path: Path) -> None:
        """Show what a file holds, to be applied."""
        self.text.setPlainText(f"@{path}")
        self._pause.stop()
        self._read()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
        if urls:
            event.acceptProposedAction()
            self.load(Path(urls[0].toLocalFile()))

    def _build_sources(self) -> QHBoxLayout:
        """Where a value can come from, but the keyboard."""
        row = QHBoxLayout()
        row.setSpacing(GRID)
        load = QPushButton(self.tr("Load…"))
        load.setObjectName(f"{self._id}.load")
        load.setToolTip(self.tr("A file: NumPy's, a table, an image, safetensors; or drop it here"))
        load.clicked.connect(self._ask_file)
        folder = QPushButton(self.tr("Folder…"))
        folder.setObjectName(f"{self._id}.folder")
        folder.setToolTip(self.tr("A folder of images, of which each is a row; or drop it here"))
        folder.clicked.connect(self._ask_folder)
        generate = QPushButton(self.tr("Generate"))
        generate.setObjectName(f"{self._id}.generate")
        generate.setMenu(self._build_generators(generate))
        self._any_rows = QPushButton(self.tr(commands.ANY_ROWS))
        self._any_rows.setObjectName(f"{self._id}.any_rows")
        self._any_rows.setToolTip(self.tr("Leave the first size of the placeholder open"))
        self._any_rows.clicked.connect(self._take_any_rows)
        for button in (load, folder, generate):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        self._any_rows.setAutoDefault(False)
        row.addWidget(self._any_rows)
        return row

    def _take_any_rows(self) -> None:
        """From here on the value may have any number of rows; applying it says so to the node."""
        self._place = self._place.with_any_rows()
        self._kind.setText(str(self._place.kind))
        self._check()

    def _build_generators(self, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        menu.setToolTipsVisible(True)
        for name, generator in GENERATORS.items():
            action = menu.addAction(name)
            action.setToolTip(plain(generator.words))
            action.triggered.connect(lambda _=False, name=name: self._generate(name))
        return menu

    def _generate(self, name: str) -> None:
        """Write a generator's call with all that it can be told."""
        known = self._place.kind.shape.is_static or not GENERATORS[name].takes_shape
        call = signature(name).replace("seed=None", "seed=1").replace(", num=None", "")
        call = _CALLS.get(name, call)
        self.text.setPlainText(call if known else call.replace("(", "([8], ", 1))
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def _ask_file(self) -> None:
        suffixes = " ".join(f"*{suffix}" for suffix in SUFFIXES)
        chosen = ask_open(
            self, "data", self.tr("Load a value"), f"Values ({suffixes});;All files (*)"
        )
        if chosen is not None:
            self.load(chosen)

    def _ask_folder(self) -> None:
        chosen = ask_folder(self, "data", self.tr("Load a folder of images"))
        if chosen is not None:
            self.load(chosen)

    def _check(self) -> None:
        self._reader.stop()
        self._pause.stop()
        self._value = None
        text = self.text.toPlainText()
        if not text.strip():
            self._tell("", "muted")
            return
        try:
            found = read_now(text, self._place.kind, self._place.name)
        except GradstepError as error:
            self._refuse(error)
            return
        if found is None:
            self._tell(self.tr("reading…"), "muted")
            self._pause.start()
        else:
            self._accept(found)

    def _read(self) -> None:
        """What is not written out: beside the main thread."""
        place, folder = self._place, commands.folder_of(self.workspace)
        text = self.text.toPlainText()
        self._reader.stop()
        self._reader.read(text, place.kind, place.name, folder, self._accept, self._refuse)

    def _accept(self, value: Constant) -> None:
        self._value = value
        self._tell(f"✓ shape {Shape(value.array.shape)}", "muted")

    def _refuse(self, error: GradstepError) -> None:
        self._tell(words(error), "problem")
        rows_alone = isinstance(error, RowsMisfitError)
        self._any_rows.setVisible(rows_alone and self._place.rows_are_free)

    def _tell(self, text: str, tone: Any) -> None:
        self._any_rows.hide()
        self._fits.setText(text)
        self._color(self._fits, tone)
        self._apply.setEnabled(self._value is not None)


class ValueHereDialog(ValueDialog):
    """The same for what a variable has from where the debugger stands on."""

    _id = "value_here_dialog"

    @staticmethod
    def _find_place(workspace: Workspace, op: Operation) -> ValuePlace:
        return place_here(workspace, op)


_CALLS = {"full": "full(0.5)", "range": "range(0, 10)", "linspace": "linspace(0, 1, 11)",
          "eye": "eye(3)"}  # fmt: skip


def _shown(value: Constant | None) -> str:
    if value is None or value.array.size > SHOWN:
        return ""
    with np.printoptions(threshold=SHOWN, floatmode="unique"):
        return np.array2string(value.array, separator=", ")


def _replaced(value: Constant | None) -> str:
    """What a value that is too large to be edited is."""
    if value is None or value.array.size <= SHOWN:
        return ""
    array = value.array
    return f"{array.dtype.name}{Shape(array.shape)} is too large to be shown; replace it by\n\n"
