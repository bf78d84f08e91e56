"""The gesture that draws a wire: from an output to an input, or back; onto nothing it searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsPathItem, QToolTip

from core.graph.model import Edge, TensorRef
from gui import commands
from gui.canvas import adding, hit, links, routing
from gui.canvas.compatible import Wiring
from gui.canvas.hit import Port
from gui.canvas.naming import input_name
from gui.theme import faded

if TYPE_CHECKING:
    from gui.canvas.view import GraphView

SNAP = 22.0  # pixels from a port at which the wire jumps to it
DOT = 5.0


class DrawWire:
    """Drags the free end of a wire. All ports that it could end at show whether they fit.

    taken: the wire that was pulled off an input, to be opened unless it goes back there.
    """

    def __init__(self, view: GraphView, start: Port, taken: Edge | None = None) -> None:
        self._view = view
        self._start = start
        self._taken = taken
        self._dots: list[QGraphicsEllipseItem] = []
        self._refusals = self._judge_ports()
        self._path = QGraphicsPathItem()
        view.scene().addItem(self._path)
        self._mark_ports()
        self._target: Port | None = None

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        view = self._view
        point = view.mapToScene(pixel)
        self._target = self._nearest(point)
        reason = self._refusals.get(self._target, "") if self._target else ""
        end = point if self._target is None or reason else self._point(self._target)
        self._draw(end, bool(reason))
        where = view.viewport().mapToGlobal(pixel)
        QToolTip.showText(where, reason or self._target_text(), view.viewport())

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self.move(pixel, modifiers)
        target = self._target
        self.cancel()
        if target is not None:
            self._join(target)
        elif self._view.hit(self._view.mapToScene(pixel)).box is None:
            self._drop_on_nothing(pixel)
        elif self._taken is not None:
            commands.disconnect(self._view.workspace, self._taken)

    def cancel(self) -> None:
        scene = self._view.scene()
        for item in (self._path, *self._dots):
            scene.removeItem(item)
        self._dots = []
        QToolTip.hideText()

    # -- what it ends in -----------------------------------------------------------------------

    def _join(self, target: Port) -> None:
        workspace = self._view.workspace
        source, edge = self._pair(target)
        if self._refusals[target]:
            workspace.message.emit("warning", self._refusals[target])
        elif self._taken is None:
            commands.connect(workspace, source, edge)
        elif edge != self._taken:
            commands.rewire(workspace, self._taken, edge)

    def _drop_on_nothing(self, pixel: QPoint) -> None:
        view = self._view
        if self._taken is not None:
            commands.disconnect(view.workspace, self._taken)
            return
        at = view.mapToScene(pixel).toTuple()
        if self._start.is_output:
            entries = adding.readers(view.workspace, at, view.stage.tensor(self._start))
        else:
            entries = adding.makers(view.workspace, at, view.stage.wire(self._start))
        view.open_menu(entries, view.viewport().mapToGlobal(pixel))

    def _pair(self, target: Port) -> tuple[TensorRef, Edge]:
        out, into = (self._start, target) if self._start.is_output else (target, self._start)
        return self._view.stage.tensor(out), self._view.stage.wire(into)

    # -- which ports fit -------------------------------------------------------------------------

    def _judge_ports(self) -> dict[Port, str]:
        """Every visible port of the other kind -> why it does not fit, or ""."""
        view = self._view
        shown = np.flatnonzero(view.arrays.boxes_in(*view.camera.visible.getCoords()))
        ports = [p for box in shown.tolist() for p in hit.ports(view.arrays, box)]
        others = [p for p in ports if p.is_output is not self._start.is_output]
        graph, inference = view.workspace.document.graph, view.workspace.inference
        if self._start.is_output:
            wiring = Wiring(graph, inference, view.stage.tensor(self._start))
            return {p: wiring.refusal(view.stage.wire(p)) for p in others}
        edge = view.stage.wire(self._start)
        return {p: Wiring(graph, inference, view.stage.tensor(p)).refusal(edge) for p in others}

    def _nearest(self, point: QPointF) -> Port | None:
        reach = SNAP / self._view.camera.scale
        best = None
        for port in self._refusals:
            gap = (self._point(port) - point).manhattanLength()
            if gap < reach:
                best, reach = port, gap
        return best

    def _target_text(self) -> str:
        if self._target is None:
            return ""
        source, edge = self._pair(self._target)
        name = input_name(self._view.workspace.shown, edge)
        return f"{source.short} → {edge.op} · {name}"

    # -- how it looks ----------------------------------------------------------------------------

    def _point(self, port: Port) -> QPointF:
        return QPointF(*hit.port_point(self._view.arrays, port))

    def _mark_ports(self) -> None:
        theme = self._view.workspace.theme
        for port, reason in self._refusals.items():
            at = self._point(port)
            dot = QGraphicsEllipseItem(at.x() - DOT, at.y() - DOT, 2 * DOT, 2 * DOT)
            dot.setBrush(theme.faint if reason else theme.update)
            dot.setPen(QPen(theme.background, 1.5))
            dot.setOpacity(0.5 if reason else 1.0)
            self._view.scene().addItem(dot)
            self._dots.append(dot)

    def _draw(self, end: QPointF, refused: bool) -> None:
        theme = self._view.workspace.theme
        start = self._point(self._start)
        first, last = (start, end) if self._start.is_output else (end, start)
        ends = np.array([first.toTuple()]), np.array([last.toTuple()])
        self._path.setPath(links.path(routing.curves(*ends)))
        color = theme.problem if refused else theme.selection
        self._path.setPen(QPen(faded(color, 0.9), 2))
