"""The whole graph in a corner of the canvas, with what is seen of it; a click goes there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from gradstep.gui.canvas.paint import paint_order
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.paint.said_in_view import Said, said_of
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.theme import fade
from gradstep.gui.model.once_told import OnceTold
from gradstep.gui.model.workspace import Workspace

SIZE = QSize(152, 96)
EDGE, PADDING = 12, 8  # pixels to the canvas's corner, and inside
REST = 30  # milliseconds without a change until the overview is drawn again
STILL = 150  # and until it makes way for what it lies over: it does not jump about meanwhile


class Minimap(QWidget):
    """Lies over its parent's lower right corner, or the upper one while boxes are seen there alone.

    wanted: shown (True) or hidden (False) by the user; None: shown while boxes are out of view.
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
        self._structure_picture: QPixmap | None = None  # without what is said
        self._shown: SceneArrays | None = None  # of which that is
        self._said: Said | None = None  # what the picture tells beyond that, where that is known
        self._is_held = False  # by the mouse
        self.wanted: bool | None = None
        self.setFixedSize(SIZE)
        self.setToolTip("Overview (O). Click to go there.")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._soon = QTimer(self, singleShot=True, interval=REST)
        self._soon.timeout.connect(self._forget_if_changed)
        self._rest = QTimer(self, singleShot=True, interval=STILL)
        self._rest.timeout.connect(self._settle)
        told = OnceTold(workspace.debugger, self._soon.start, self)
        stage.changed.connect(told.hear)
        stage.facts_changed.connect(told.hear)
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
        self._is_held = True
        scale, corner = self._mapping()
        self._camera.look_at((event.position() - corner) / scale)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._is_held = False
        self._rest.start()
        event.accept()  # the canvas below must not take it

    def _forget_if_changed(self) -> None:
        if self.isHidden():
            self._said = None
            self._forget()
            return
        if self._stage.is_behind:
            return  # it says so when that is there
        before, self._said = self._said, self._say()
        if not self._is_up_to_date:
            self._forget()
        elif before != self._said:
            self._picture = None
            self.update()

    @property
    def _is_up_to_date(self) -> bool:
        """Whether the graph is drawn here as it is now."""
        shown = self._shown
        return shown is not None and (shown is self._stage.arrays or self._looks_alike(shown))

    def _looks_alike(self, before: SceneArrays) -> bool:
        """Whether the graph is drawn here as that scene was: nobody reads names from afar."""
        arrays = self._stage.arrays
        same = arrays.routes is before.routes and np.array_equal(arrays.rects, before.rects)
        return (
            same
            and Detail.at(self._far) < Detail.NAMES
            and np.array_equal(arrays.visible.kinds, before.visible.kinds)
        )

    def _forget(self) -> None:
        self._picture = self._structure_picture = self._shown = None
        self._follow()

    def _say(self) -> Said:
        """What the picture tells beyond the graph."""
        arrays, letter = self._stage.arrays, self._structure.labels.letter
        return said_of(arrays, self._stage.facts, *self._all, self._far, letter)

    @property
    def _all(self) -> tuple[np.ndarray, np.ndarray]:
        """All boxes (bool[n]), and none of the links (bool[m])."""
        arrays = self._stage.arrays
        return np.ones(len(arrays), dtype=bool), np.zeros(len(arrays.routes), dtype=bool)

    @property
    def _far(self) -> float:
        """The scale by which the details are chosen: however small the graph is, it is seen from
        afar."""
        return min(self._mapping()[0], 0.3)

    def _follow(self) -> None:
        """The graph changed, or what is seen of it."""
        self._show_if_wanted()
        self._rest.start()
        self.update()

    def _settle(self) -> None:
        """It is as it was a while ago. Where the canvas got another size, that was told before the
        view had its new offset."""
        self._show_if_wanted()
        if not self.isHidden():
            self._place()

    def _show_if_wanted(self) -> None:
        self.setVisible(self._is_of_use() if self.wanted is None else self.wanted)

    def _is_of_use(self) -> bool:
        arrays = self._stage.arrays
        left, top, right, bottom = arrays.standing
        boxes = QRectF(left, top, right - left, bottom - top)
        return len(arrays) > 0 and not self._camera.visible.contains(boxes)

    def _place(self) -> None:
        if self._is_held:
            return  # not away from under the mouse
        room = self._parent.size()
        right, bottom = room.width() - self.width() - EDGE, room.height() - self.height() - EDGE
        corners = QPoint(right, bottom), QPoint(right, EDGE)
        free = (corner for corner in corners if not self._hides_boxes(corner))
        self.move(next(free, corners[0]))

    def _hides_boxes(self, corner: QPoint) -> bool:
        """Whether boxes would be behind it there."""
        seen, scale = self._camera.visible, self._camera.scale
        left, top = seen.left() + corner.x() / scale, seen.top() + corner.y() / scale
        right, bottom = left + self.width() / scale, top + self.height() / scale
        return bool(self._stage.arrays.boxes_in(left, top, right, bottom).any())

    def _drawn(self) -> QPixmap:
        """The graph as it was drawn before, with what is said of it now; together where boxes are
        so near that one lies over what is said of another."""
        structure, runtime, facts, far = (
            self._structure,
            self._runtime,
            self._stage.facts,
            self._far,
        )
        if self._structure_picture is None:
            self._shown = self._stage.arrays
        structure.arrays = self._stage.arrays
        boxes, links = self._all
        if Detail.at(far) >= Detail.NAMES:
            return self._painted(
                None,
                lambda painter: paint_order.paint_both(
                    painter, structure, runtime, facts, boxes, links, far, False
                ),
            )
        if self._structure_picture is None:
            self._structure_picture = self._painted(
                None, lambda painter: structure.paint_some(painter, boxes, links, far)
            )
        arrays = self._stage.arrays
        return self._painted(
            self._structure_picture,
            lambda painter: runtime.paint(painter, arrays, facts, boxes, links, far),
        )

    def _painted(self, upon: QPixmap | None, paint: Callable[[QPainter], None]) -> QPixmap:
        """A picture in scene units, over a copy of another."""
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio) if upon is None else QPixmap(upon)
        if upon is None:
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        scale, corner = self._mapping()
        painter.translate(corner)
        painter.scale(scale, scale)
        paint(painter)
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
