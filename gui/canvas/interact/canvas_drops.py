"""Drops on the canvas: an op type from the palette becomes a node, a file the value of a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMenu

from gradstep.gui import commands
from gradstep.gui.actions.action_record import VALUED
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.pointer import Pointer
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.palette_panel import MIME_TYPE

_DRAGGED = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


class ValueDrop:
    """Files of values over nodes that have a value; on an empty place, rows of data, or all
    variables of a checkpoint. at: the place in the scene of a pixel."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        pointer: Pointer,
        at: Callable[[QPoint], tuple[float, float]],
        overlay: Overlay,
    ) -> None:
        self._overlay = overlay
        self._workspace, self._stage, self._pointer, self._at = workspace, stage, pointer, at

    def target(self, pixel: QPoint) -> str:
        """The operation under a pixel that a value can be given to; "" for none."""
        number = self._pointer.hit(pixel).box
        box = None if number is None else self._stage.arrays.visible.boxes[number]
        if box is None or box.is_scope or self._workspace.shown[box.id].type not in VALUED:
            return ""
        return box.id

    def is_empty(self, pixel: QPoint) -> bool:
        """Whether there is no operation under a pixel; scopes are places, too."""
        number = self._pointer.hit(pixel).box
        return number is None or self._stage.arrays.visible.boxes[number].is_scope

    def words(self, path: Path, pixel: QPoint) -> str:
        """What a drop would do; "" for nothing."""
        name = self.target(pixel)
        rows = "variables by name" if commands.is_checkpoint(path) else "data"
        what = f"the value of {name}" if name else rows if self.is_empty(pixel) else ""
        return what and f"{path.name}: {what}"

    def drop(self, path: Path, pixel: QPoint) -> None:
        """Give what a file holds to the operation under a pixel, if that takes values; where there
        is nothing, feed the placeholders from its rows, or restore variables."""
        name = self.target(pixel)
        if name:
            self._workspace.select([name])
            ask = partial(self._ask, self._overlay.to_screen(pixel))
            commands.load_value(self._workspace, name, path, ask)
        elif not self.is_empty(pixel):
            where = "a placeholder, a variable or a constant: it becomes its value"
            self._workspace.say(
                f"Drop {path.name} on {where}; on an empty place, its rows are data", "warning"
            )
        elif commands.is_checkpoint(path):
            commands.restore_variables(self._workspace, path)
        else:
            commands.begin_data(self._workspace, commands.place_of_file(path), self._at(pixel))

    def _ask(self, at: QPoint, choices: commands.Choices) -> None:
        """Which of several arrays it is to be. at: on the screen."""
        menu = QMenu(self._overlay.window)
        menu.setObjectName("canvas.arrays")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, take in choices.items():
            add_row(menu, words).triggered.connect(lambda *_, take=take: take())
        menu.popup(at)


class Drops(QObject):
    """Takes drags of `MIME_TYPE`, and of files of values. All others go on to the window, which
    opens files; a graphics view by itself would take them and do nothing."""

    def __init__(
        self, overlay: Overlay, drop: Callable[[str, QPoint], None], values: ValueDrop
    ) -> None:
        """drop: adds a node of a type, at a pixel of the viewport."""
        super().__init__(overlay.window)
        self._overlay = overlay
        self._drop = drop
        self._values = values
        overlay.port.setAcceptDrops(True)
        overlay.port.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.DragLeave:
            self._tip(QPoint(), "")
        if event.type() not in _DRAGGED or not isinstance(event, QDropEvent):
            return False
        path = file_of_values(event)
        if event.mimeData().hasFormat(MIME_TYPE):
            self._take_op(event)
        elif path is not None:
            self._take_values(event, path)
        else:
            event.ignore()
        return True

    def _take_op(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        if event.type() is QEvent.Type.Drop:
            type = bytes(event.mimeData().data(MIME_TYPE).data()).decode()
            self._drop(type, event.position().toPoint())
            self._overlay.take_focus()

    def _take_values(self, event: QDropEvent, path: Path) -> None:
        """Wherever they are on the canvas: Qt asks once, when they come over it."""
        event.acceptProposedAction()
        pixel = event.position().toPoint()
        if event.type() is QEvent.Type.Drop:
            self._tip(pixel, "")
            self._values.drop(path, pixel)
            self._overlay.take_focus()
        else:
            self._tip(pixel, self._values.words(path, pixel))

    def _tip(self, pixel: QPoint, text: str) -> None:
        self._overlay.show_tip(pixel, text)


def file_of_values(event: QDropEvent) -> Path | None:
    """The one file of values that is being dropped; None for anything else."""
    urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
    path = Path(urls[0].toLocalFile()) if len(urls) == 1 else None
    return path if path is not None and commands.holds_values(path) else None
