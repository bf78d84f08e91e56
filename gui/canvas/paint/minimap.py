"""The whole graph in a corner of the canvas, with what is seen of it; a click goes there."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from gradstep.gui.canvas.interact.camera import Camera
from gradstep.gui.canvas.paint import paint_order
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.theme import fade
from gradstep.gui.model.workspace import Workspace

SIZE = QSize(152, 96)
EDGE, PADDING = 12, 8  # pixels to the canvas's corner, and inside
REST = 30  # milliseconds without a change until the overview is drawn again


class Minimap(QWidget):
    """Lies over its parent's lower right corner.

    wanted: shown (True) or hidden (False) by the user; None: shown while part of the graph is out
    of view.
    """

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        structure: GraphPainter,
        runtime: RuntimePainter,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("minimap")
        self.setAccessibleName("Overview of the graph")
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._structure = structure
        self._runtime = runtime
        self._parent = parent
        self._picture: QPixmap | None = None
        self.wanted: bool | None = None
        self.setFixedSize(SIZE)
        self.setToolTip("Overview (O). Click to go there.")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._soon = QTimer(self, singleShot=True, interval=REST)
        self._soon.timeout.connect(self._forget)
        stage.changed.connect(self._soon.start)
        stage.facts_changed.connect(self._soon.start)
        camera.moved.connect(self._follow)
        workspace.theme_changed.connect(self._forget)
        parent.installEventFilter(self)
        self._place()
        self._follow()

    def toggle(self) -> None:
        """Show it, or hide it, from now on."""
        self.wanted = self.isHidden()
        self._follow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._place()
            self._follow()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._workspace.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(fade(theme.panel, 0.92))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if not len(self._stage.arrays):
            return
        if self._picture is None:
            self._picture = self._drawn()
        painter.drawPixmap(0, 0, self._picture)
        frame = self._to_map(self._camera.visible)
        inside = QRectF(self.rect()).adjusted(3.5, 3.5, -3.5, -3.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.selection, 1))
        painter.drawRect(frame.intersected(inside))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        scale, corner = self._mapping()
        self._camera.look_at((event.position() - corner) / scale)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the canvas below must not take it

    def _forget(self) -> None:
        self._picture = None
        self._follow()

    def _follow(self) -> None:
        """The graph changed, or what is seen of it."""
        self.setVisible(self._is_of_use() if self.wanted is None else self.wanted)
        self.update()

    def _is_of_use(self) -> bool:
        seen = self._camera.visible
        return len(self._stage.arrays) > 0 and not seen.contains(self._stage.area)

    def _place(self) -> None:
        room = self._parent.size()
        self.move(room.width() - self.width() - EDGE, room.height() - self.height() - EDGE)

    def _drawn(self) -> QPixmap:
        arrays, ratio = self._stage.arrays, self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        scale, corner = self._mapping()
        painter.translate(corner)
        painter.scale(scale, scale)
        boxes = np.ones(len(arrays), dtype=bool)
        links = np.zeros(len(arrays.routes), dtype=bool)
        far = min(scale, 0.3)  # however small the graph is, it is an overview
        structure, runtime, facts = self._structure, self._runtime, self._stage.facts
        paint_order.paint_both(painter, structure, runtime, facts, boxes, links, far, False)
        painter.end()
        return picture

    def _mapping(self) -> tuple[float, QPointF]:
        """Pixels of the map per scene unit, and where the scene's origin lies."""
        whole = self._stage.area
        room = QRectF(self.rect()).adjusted(PADDING, PADDING, -PADDING, -PADDING)
        scale = min(room.width() / whole.width(), room.height() / whole.height(), 0.3)
        return scale, room.center() - whole.center() * scale

    def _to_map(self, rect: QRectF) -> QRectF:
        scale, corner = self._mapping()
        return QRectF(rect.topLeft() * scale + corner, rect.size() * scale)
