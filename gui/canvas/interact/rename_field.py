"""Renaming in place: a field over the name on the canvas, and below it why a name is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.gui import commands
from gradstep.gui.canvas.scene.scene_arrays import TITLE
from gradstep.gui.look.plain_text import Label
from gradstep.gui.model.selection import selected_unit
from gradstep.gui.panels.widgets.name_field import NameField

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView

LEAST = 160  # pixels, width of the field
ROOM = 24  # pixels in the field beside the text


def begin(view: GraphView) -> None:
    """Edit the name of the selected node or scope, where it stands; it is brought into view."""
    id = selected_unit(view.workspace)
    if not id:
        return
    if _title(view, id) is None:
        commands.reveal(view.workspace, id.rstrip("/"))
    title = _title(view, id)
    if title is not None:
        view.camera.reveal(title)
        NameEditor(view, id)


class NameEditor(QWidget):
    """Stands over a title as long as it is edited; follows when the view moves."""

    def __init__(self, view: GraphView, id: str) -> None:
        super().__init__(view.viewport())
        self._view, self._id = view, id
        self.setObjectName("canvas.rename")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.field = NameField(view.workspace, id, "canvas.rename.name")
        self.reason = Label(objectName="canvas.rename.reason", wordWrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.field)
        column.addWidget(self.reason)
        self.field.textChanged.connect(self._place)
        self.field.refused.connect(self._say)
        self.field.ended.connect(self._end)
        view.camera.moved.connect(self._place)
        view.stage.changed.connect(self._place)
        self._say("")
        self.show()
        self.field.setFocus()
        self.field.setSelection(id.rstrip("/").rfind("/") + 1, len(id))

    def _say(self, reason: str) -> None:
        theme = self._view.workspace.theme
        self.reason.setStyleSheet(
            f"color: {theme.problem.name()}; background: {theme.panel.name()};"
            f"border: 1px solid {theme.line.name()}; padding: 2px 5px;"
        )
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self._place()

    def _place(self) -> None:
        """Over the title, as wide as the name needs."""
        title = _title(self._view, self._id)
        if title is None:  # it is gone, or in a closed scope
            self._end()
            return
        corner = self._view.mapFromScene(title.topLeft())
        scaled = round(title.width() * self._view.camera.scale)
        text = self.field.fontMetrics().horizontalAdvance(self.field.text()) + ROOM
        self.setFixedWidth(max(LEAST, min(scaled, 2 * LEAST), text))
        self.adjustSize()
        middle = round((title.height() * self._view.camera.scale - self.field.height()) / 2)
        self.move(corner + QPoint(0, middle))

    def _end(self) -> None:
        if self.isVisible():
            self.field.blockSignals(True)  # closing takes the focus, which would apply once more
            self._view.setFocus()
            self.close()


def _title(view: GraphView, id: str) -> QRectF | None:
    """The title row of the box, or of the frame, that is called so, scene units."""
    number = view.arrays.visible.number.get(id)
    if number is not None:
        x, y, width, _ = view.arrays.rects[number].tolist()
        return QRectF(x, y, width, TITLE)
    for frame in view.arrays.frames:
        if frame.scope == id.rstrip("/") and id.endswith("/"):
            x, y, width, _ = frame.rect
            return QRectF(x, y, width, TITLE)
    return None
