"""A tensor as text on the clipboard, and in files: by the engine, which holds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtWidgets import QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.host.engine_client import local_engine
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Failed,
    Message,
    ReadTable,
    SavedTensor,
    SaveTensor,
    Table,
    TensorSlice,
)
from gradstep.core.protocol.tensor_bytes import elements
from gradstep.gui.dialogs.file_choice import ask_save
from gradstep.gui.dialogs.file_filters import with_suffix_of
from gradstep.gui.model import number_text
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.tensor.table_pages import Rectangle

PICTURE = ".png"
MOST_CELLS = 10_000  # of a selection that is copied
_NUMBERS = "NumPy array (*.npy);;NumPy archive (*.npz);;Comma-separated values (*.csv)"
_DRAWN = f"{_NUMBERS};;Picture as shown (*{PICTURE})"

Say = Callable[[str, bool], None]  # a line, and whether something is wrong


class TensorSaving:
    """say: tells what came of it."""

    def __init__(self, panel: QWidget, workspace: Workspace, say: Say) -> None:
        self._panel, self._workspace, self._say = panel, workspace, say
        self._background = Background(panel)

    def copy(self, of: TensorSlice) -> None:
        """The slice as Python reads it, with NumPy's names."""

        def copied(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if not self._refused(reply) and isinstance(reply, SavedTensor):
                QGuiApplication.clipboard().setText(bytes(buffers[0]).decode())
                self._say("copied as NumPy text", False)

        self._workspace.request(SaveTensor(of=of, format="text"), (), copied)

    def copy_cells(self, of: TensorSlice, cells: Rectangle) -> None:
        """The chosen cells of a table as NumPy text; one as the number that it is."""
        if cells.rows * cells.columns > MOST_CELLS:
            self._say(f"more than {MOST_CELLS:,} cells are chosen; use Copy or Save…", True)
            return

        def copied(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if self._refused(reply) or not isinstance(reply, Table):
                return
            values = elements(buffers[0], DType(reply.dtype).numpy)
            table = values.reshape(reply.rows, reply.columns)
            with np.printoptions(threshold=MOST_CELLS + 1, floatmode="unique"):
                text = str(table[0, 0]) if table.size == 1 else np.array_repr(table)
            QGuiApplication.clipboard().setText(text)
            self._say(f"copied {reply.rows}×{reply.columns} elements", False)

        message = ReadTable(
            of=of, row=cells.row, rows=cells.rows, column=cells.column, columns=cells.columns
        )
        self._workspace.request(message, (), copied)

    def ask(self, of: TensorSlice, picture: Callable[[], QPixmap] | None) -> None:
        """Save the slice where the user says. picture: what is shown, where that can be saved."""
        name = of.ref.rpartition(":")[0].replace("/", ".") or of.ref
        filter = _NUMBERS if picture is None else _DRAWN
        path = ask_save(
            self._panel.window(), "tensor", "Save tensor", Path(f"{name}.npy"), filter,
            with_suffix_of,
        )  # fmt: skip
        if path is None:
            return
        if path.suffix.lower() == PICTURE and picture is not None:
            self._write(path, png_of(picture()))
        else:
            self.save(of, path)

    def save(self, of: TensorSlice, path: Path) -> None:
        """The engine writes the file; one that has no files, or is on another machine, hands over
        what is to be in it."""
        reaches = list(self._workspace.bridge.command) == local_engine()
        reaches = reaches and not self._workspace.bridge.confined
        message = SaveTensor(
            of=of, path=str(path.absolute()) if reaches else "", format=path.suffix.lower()
        )

        def saved(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if self._refused(reply) or not isinstance(reply, SavedTensor):
                return
            if reaches:
                self._tell(path, reply.size)
            else:
                self._write(path, bytes(buffers[0]))

        self._say(f"saving {path.name}…", False)
        self._workspace.request(message, (), saved)

    def _write(self, path: Path, data: bytes) -> None:
        self._background.run(
            lambda: replace_file(path, data),
            lambda _: self._tell(path, len(data)),
            self._fail,
        )

    def _tell(self, path: Path, size: int) -> None:
        self._say(f"saved {path.name}, {number_text.byte_size(size)}", False)

    def _fail(self, error: GradstepError) -> None:
        self._say(f"{error.message}; {error.hint}" if error.hint else error.message, True)

    def _refused(self, reply: Message) -> bool:
        if not isinstance(reply, Failed):
            return False
        error = reply.error
        self._say(f"{error.message}; {error.hint}" if error.hint else error.message, True)
        return True


def png_of(picture: QPixmap) -> bytes:
    """A PNG file."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    return bytes(data.data())
