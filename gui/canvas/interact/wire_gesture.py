"""The gesture that draws a wire: from an output to an input, or back; onto nothing it searches."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsPathItem,
    QStyleOptionGraphicsItem,
    QToolTip,
    QWidget,
)

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.interact import search_entries
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.search_menu import Search
from gradstep.gui.canvas.paint import link_painter
from gradstep.gui.canvas.scene import hit_test, link_routing
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.hit_test import Port
from gradstep.gui.canvas.scene.input_names import input_name
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import WIDTH
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.canvas.scene.wire_compatibility import Wiring
from gradstep.gui.look.theme import Theme, fade
from gradstep.gui.model.workspace import Workspace

SNAP = 22.0  # pixels from a port at which the wire jumps to it
DOT = 5.0
CAST = Qt.KeyboardModifier.ShiftModifier  # held, a Cast is put where a wire would not fit


class DrawWire:
    """Drags the free end of a wire. The ports in view show whether it could end there.

    taken: the wire that was pulled off an input, to be opened unless it goes back there.
    """

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        search: Search,
        start: Port,
        taken: Edge | None = None,
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._visible = stage.arrays.visible
        self._camera = camera
        self._overlay = overlay
        self._search = search
        self._start = start
        self._taken = taken
        into = None if start.is_output else stage.wire(start)
        self._wiring = Wiring(workspace.document.graph, workspace.inference, into)
        self._refusals: dict[Port, GradstepError | None] = {}  # of the ports that were looked at
        self._path = QGraphicsPathItem()
        self._marks = Marks(workspace.theme, self._ports_in_view())
        overlay.add(self._path, self._marks)
        self._target: Port | None = None
        self._casting = False

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        point = self._camera.to_scene(pixel)
        self._target = self._nearest(point)
        self._casting = bool(modifiers & CAST)
        error = None if self._target is None else self._refusal(self._target)
        refused = error is not None and not self._mended()
        end = point if self._target is None or refused else self._point(self._target)
        self._draw(end, refused)
        self._overlay.show_tip(pixel, self._told(error))

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self.move(pixel, modifiers)
        target = self._target
        self.cancel()
        if target is not None:
            self._join(target)
        elif self._is_free(pixel):
            self._drop_on_nothing(pixel)
        elif self._taken is not None:
            commands.disconnect(self._workspace, self._taken)

    @property
    def is_over(self) -> bool:
        return self._stage.arrays.visible is not self._visible

    @property
    def judged(self) -> int:
        """How many ports it has asked about."""
        return len(self._refusals)

    def cancel(self) -> None:
        self._overlay.remove(self._path, self._marks)
        QToolTip.hideText()

    # -- what it ends in -----------------------------------------------------------------------

    def _join(self, target: Port) -> None:
        workspace, error = self._workspace, self._refusal(target)
        source, edge = self._pair(target)
        if error is not None and self._mended():
            commands.connect_through_cast(workspace, source, edge, self._taken)
        elif error is not None:
            workspace.complain(error, "warning")
        elif self._taken is None:
            commands.connect(workspace, source, edge)
        elif edge != self._taken:
            commands.rewire(workspace, self._taken, edge)

    def _drop_on_nothing(self, pixel: QPoint) -> None:
        workspace, stage = self._workspace, self._stage
        if self._taken is not None:
            commands.disconnect(workspace, self._taken)
            return
        x, y = self._camera.to_scene(pixel).toTuple()
        if self._start.is_output:  # the node's left edge, where its inputs are, comes there
            at = (x + WIDTH / 2, y)
            entries = search_entries.readers(workspace, at, stage.tensor(self._start))
        else:
            at = (x - WIDTH / 2, y)
            entries = search_entries.makers(workspace, at, stage.wire(self._start))
        self._search.open(entries, pixel)

    def _pair(self, target: Port) -> tuple[TensorRef, Edge]:
        out, into = (self._start, target) if self._start.is_output else (target, self._start)
        return self._stage.tensor(out), self._stage.wire(into)

    def _is_free(self, pixel: QPoint) -> bool:
        """Whether no box lies there."""
        at = self._camera.to_scene(pixel).toTuple()
        return hit_test.at(self._stage.arrays, at, self._camera.scale).box is None

    # -- which ports fit -------------------------------------------------------------------------

    def _ports_in_view(self) -> list[tuple[QPointF, bool]]:
        """Where the ports that are drawn lie, and whether the wire could end there. From afar there
        are none to be seen, and too many."""
        if Detail.at(self._camera.scale) is not Detail.FULL:
            return []
        ports = self._ports(*sides_of(self._camera.visible))
        return [(self._point(port), self._refusal(port) is None) for port in ports]

    def _ports(self, left: float, top: float, right: float, bottom: float) -> list[Port]:
        """The ports that it could end at, of the boxes that touch a rectangle."""
        arrays = self._stage.arrays
        boxes = np.flatnonzero(arrays.boxes_in(left, top, right, bottom)).tolist()
        ports = [port for box in boxes for port in hit_test.ports(arrays, box)]
        return [port for port in ports if port.is_output is not self._start.is_output]

    def _refusal(self, port: Port) -> GradstepError | None:
        if port not in self._refusals:
            self._refusals[port] = self._wiring.refusal(*self._pair(port))
        return self._refusals[port]

    def _mended(self) -> bool:
        """Whether a Cast goes in between, and makes the wire fit."""
        return self._casting and self._cast() is not None

    def _cast(self) -> DType | None:
        return None if self._target is None else self._wiring.cast(*self._pair(self._target))

    def _nearest(self, point: QPointF) -> Port | None:
        reach = SNAP / self._camera.scale
        x, y = point.toTuple()
        best = None
        for port in self._ports(x - reach, y - reach, x + reach, y + reach):
            gap = (self._point(port) - point).manhattanLength()
            if gap < reach:
                best, reach = port, gap
        return best

    def _told(self, error: GradstepError | None) -> str:
        """What stands beside the pointer."""
        if self._target is None:
            return ""
        source, edge = self._pair(self._target)
        if error is None:
            name = input_name(self._workspace.shown, edge)
            return f"{source.short} → {edge.op} · {name}"
        cast = self._cast()
        if cast is None:
            return "\n".join(filter(None, (error.message, error.hint)))
        if self._casting:
            return f"{source.short} → Cast to {cast} → {edge.op}"
        return f"{error.message}\nShift: with a Cast to {cast} in between"

    # -- how it looks ----------------------------------------------------------------------------

    def _point(self, port: Port) -> QPointF:
        return QPointF(*hit_test.port_point(self._stage.arrays, port))

    def _draw(self, end: QPointF, refused: bool) -> None:
        theme = self._workspace.theme
        start = self._point(self._start)
        first, last = (start, end) if self._start.is_output else (end, start)
        ends = np.array([first.toTuple()]), np.array([last.toTuple()])
        self._path.setPath(link_painter.path(link_routing.curves(*ends)))
        color = theme.problem if refused else theme.selection
        self._path.setPen(QPen(fade(color, 0.9), 2))


class Marks(QGraphicsItem):
    """A dot at each port: bright where the wire may go, faint where it may not."""

    def __init__(self, theme: Theme, ports: list[tuple[QPointF, bool]]) -> None:
        super().__init__()
        self._theme = theme
        self._ports = ports
        self._area = QRectF()
        if ports:
            xs, ys = [at.x() for at, _ in ports], [at.y() for at, _ in ports]
            area = QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys)))
            self._area = area.adjusted(-2 * DOT, -2 * DOT, 2 * DOT, 2 * DOT)

    def boundingRect(self) -> QRectF:
        return self._area

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = self._theme
        painter.setPen(QPen(theme.background, 1.5))
        for at, fits in self._ports:
            painter.setOpacity(1.0 if fits else 0.35)
            painter.setBrush(theme.update if fits else theme.disabled)
            size = DOT if fits else DOT * 0.7
            painter.drawEllipse(at, size, size)
