"""Showing where something is: it comes into view, and a ring around it flashes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QTimer, QVariantAnimation
from PySide6.QtGui import QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPathItem

from gradstep.core.graph.scopes import is_inside
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.viewport import around
from gradstep.gui.canvas.paint.node_cards import RADIUS
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace

STAYS, FADES = 500, 140  # milliseconds
AWAY, WIDE = 7.0, 4.0  # pixels from a box to the ring, and the ring's width


class Revealer(QObject):
    """Brings things into view by name, once what is being laid out has places."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._stage = stage
        self._camera = camera
        self._waiting: Sequence[str] | None = None
        self.flash = Flash(workspace, overlay, self)
        for signal in (stage.placed, stage.replaced):
            signal.connect(self._show_waiting)
        workspace.document_opened.connect(self._forget)

    def reveal(self, names: Sequence[str]) -> None:
        """Show operations or scopes, by name; of a selected wire also the wire."""
        self._waiting = names if self._stage.laying_out else None
        arrays, link = self._stage.arrays, self._stage.facts.selected_link
        boxes = _boxes_of(arrays, names)
        if not boxes:
            return
        room, path = around(arrays, boxes), QPainterPath()
        if link is not None:
            (line,) = arrays.routes.lines(np.array([link]), 0.5 / self._camera.scale)
            path.addPolygon(QPolygonF([QPointF(x, y) for x, y in line.tolist()]))
        self._camera.centre(room | path.boundingRect())
        if link is None:
            away = AWAY / self._camera.scale
            for box in boxes:
                ring = self._stage.box_rect(box).adjusted(-away, -away, away, away)
                path.addRoundedRect(ring, RADIUS + away, RADIUS + away)
        self.flash.show(path)

    def _show_waiting(self) -> None:
        if self._waiting is not None:
            self.reveal(self._waiting)

    def _forget(self) -> None:
        self._waiting = None
        self.flash.end()


class Flash(QObject):
    """A bright line that stays for a moment and fades; none where animations are off."""

    def __init__(self, workspace: Workspace, overlay: Overlay, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._item = QGraphicsPathItem()
        self._item.hide()
        overlay.add(self._item)
        self._stay = QTimer(self, singleShot=True, interval=STAYS)
        self._fade = QVariantAnimation(self, startValue=1.0, endValue=0.0, duration=FADES)
        self._stay.timeout.connect(self._fade.start)
        self._fade.valueChanged.connect(self._item.setOpacity)
        self._fade.finished.connect(self._item.hide)

    @property
    def rect(self) -> QRectF:
        """What the line goes around now, scene units; empty while there is none."""
        return self._item.path().boundingRect() if self._item.isVisible() else QRectF()

    def show(self, path: QPainterPath) -> None:
        """Draw a line, scene units."""
        self.end()
        if not settings().motion:
            return
        pen = QPen(self._workspace.theme.selection, WIDE)
        pen.setCosmetic(True)
        self._item.setPen(pen)
        self._item.setPath(path)
        self._item.setOpacity(1.0)
        self._item.show()
        self._stay.start()

    def end(self) -> None:
        self._stay.stop()
        self._fade.stop()
        self._item.hide()


def _boxes_of(arrays: SceneArrays, names: Collection[str]) -> list[int]:
    """The boxes that show operations, or all that is in scopes, by name."""
    number = arrays.visible.box_of
    shown = [
        op
        for name in names
        for op in ([name] if name in number else (n for n in number if is_inside(n, name)))
    ]
    return sorted({number[op] for op in shown})
