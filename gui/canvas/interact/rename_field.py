"""Renaming in place: a field over the name on the canvas, and below it why a name is refused."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.gui import commands
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.scene_arrays import TITLE, SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.plain_text import Label
from gradstep.gui.model.selection import selected_unit
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.name_field import NameField

LEAST = 160  # pixels, width of the field
ROOM = 24  # pixels in the field beside the text


class Renaming:
    """Edits the name of what is selected, where it stands."""

    def __init__(
        self, workspace: Workspace, stage: SceneModel, camera: Camera, overlay: Overlay
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._overlay = overlay

    def begin(self, target: str = "") -> None:
        """Open a field over the title of a node, or of a scope, whose id ends in "/"; of what is
        selected where none is named. It comes into view."""
        id = target or selected_unit(self._workspace)
        if not id:
            return
        if _title(self._stage.arrays, id) is None:
            commands.reveal(self._workspace, id.rstrip("/"))
        if _title(self._stage.arrays, id) is None and id.endswith("/"):  # of a stack not the first
            commands.open_scope(self._workspace, id.rstrip("/"))
        title = _title(self._stage.arrays, id)
        if title is not None:
            self._camera.reveal(title)
            NameEditor(self._workspace, self._stage, self._camera, self._overlay, id)


class NameEditor(QWidget):
    """Stands over a title as long as it is edited; follows when the view moves."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        id: str,
    ) -> None:
        super().__init__(overlay.port)
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._overlay = overlay
        self._id = id
        self.setObjectName("canvas.rename")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.field = NameField(workspace, id, "canvas.rename.name")
        self.reason = Label(objectName="canvas.rename.reason", wordWrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.field)
        column.addWidget(self.reason)
        self.field.textChanged.connect(self._place)
        self.field.refused.connect(self._say)
        self.field.ended.connect(self._end)
        camera.moved.connect(self._place)
        stage.changed.connect(self._place)
        self._say("")
        self.show()
        self.field.setFocus()
        self.field.setSelection(id.rstrip("/").rfind("/") + 1, len(id))

    def _say(self, reason: str) -> None:
        theme = self._workspace.theme
        self.reason.setStyleSheet(
            f"color: {theme.problem.name()}; background: {theme.panel.name()};"
            f"border: 1px solid {theme.line.name()}; padding: 2px 5px;"
        )
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self._place()

    def _place(self) -> None:
        """Over the title, as wide as the name needs."""
        title = _title(self._stage.arrays, self._id)
        if title is None:  # it is gone, or in a closed scope
            self._end()
            return
        corner = self._camera.to_pixel(title.topLeft())
        scaled = round(title.width() * self._camera.scale)
        text = self.field.fontMetrics().horizontalAdvance(self.field.text()) + ROOM
        self.setFixedWidth(max(LEAST, min(scaled, 2 * LEAST), text))
        self.adjustSize()
        middle = round((title.height() * self._camera.scale - self.field.height()) / 2)
        self.move(corner + QPoint(0, middle))

    def _end(self) -> None:
        if self.isVisible():
            self.field.blockSignals(True)  # closing takes the focus, which would apply once more
            self._overlay.take_focus()
            self.close()


def _title(arrays: SceneArrays, id: str) -> QRectF | None:
    """The title row of the box, or of the frame, that is called so, scene units. A scope has no
    frame where other boxes lie among its own: then of the first of these."""
    number = arrays.visible.number.get(id)
    if number is not None:
        x, y, width, _ = arrays.rects[number].tolist()
        return QRectF(x, y, width, TITLE)
    for frame in arrays.frames:
        if frame.scope == id.rstrip("/") and id.endswith("/"):
            x, y, width, _ = frame.rect
            return QRectF(x, y, width, TITLE)
    if id.endswith("/"):
        first = next((box.id for box in arrays.visible.boxes if box.id.startswith(id)), None)
        return None if first is None else _title(arrays, first)
    return None
