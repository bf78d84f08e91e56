"""The node editor: a view that paints the whole graph from arrays; items are only overlays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView, QToolTip

from core.graph.model import Edge
from core.layout.boxes import GRID
from gui import commands
from gui.canvas import (
    adding,
    export,
    gestures,
    hit,
    keyboard,
    keys,
    looking,
    pressing,
    scopes,
    speech,
    tips,
)
from gui.canvas.arrays import SceneArrays
from gui.canvas.camera import NOTCH, Camera
from gui.canvas.dropping import OpDrop
from gui.canvas.hit import Hit
from gui.canvas.layers import Layers
from gui.canvas.legend import Legend
from gui.canvas.minimap import Minimap
from gui.canvas.search_menu import Entry, SearchMenu
from gui.canvas.stage import Stage
from gui.workspace import Workspace


class GraphView(QGraphicsView):
    """Reads the workspace, and changes things only through gui.commands.

    zoom_changed: the scale, 1.0 for 100 %.
    """

    zoom_changed = Signal(float)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(objectName="canvas", accessibleName="Graph canvas")
        self.workspace = workspace
        self._set_up()
        self.stage = Stage(workspace, self)
        self.camera = Camera(self)
        self.layers = Layers(self.stage, self.camera, workspace.theme)
        self.gesture: gestures.Gesture | None = None
        self.space_held = False
        self._pointer: QPoint | None = None
        self._stood: object = None
        self.minimap = Minimap(self)
        self.legend = Legend(self)
        self._drops = OpDrop(self)
        self._connect()
        self.first_look()

    @property
    def arrays(self) -> SceneArrays:
        return self.stage.arrays

    @property
    def area(self) -> QRectF:
        """All of the graph, scene units."""
        left, top, right, bottom = self.arrays.extent
        return QRectF(QPointF(left, top), QPointF(right, bottom))

    # -- looking: the names that the window's actions use --------------------------------------

    def fit(self) -> None:
        """Show the whole graph."""
        self.camera.frame(self.area)

    def as_picture(self, suffix: str) -> bytes:
        """The whole graph, as it looks now, as a ".png" or ".svg" file."""
        return export.to_bytes(suffix, self.arrays, self.stage.facts, self.workspace.theme)

    def first_look(self) -> None:
        """The whole graph, or where it begins if it is very large."""
        looking.first_look(self)

    def fit_selection(self) -> None:
        chosen = sorted(self.stage.facts.selected)
        if not chosen:
            self.fit()
            return
        self.camera.frame(looking.around(self.arrays, chosen))

    def show_current(self) -> None:
        """Bring the node of the current step into view."""
        if self.stage.facts.current is not None:
            self.camera.reveal(self.box_rect(self.stage.facts.current))

    def zoom_in(self) -> None:
        self.camera.zoom(NOTCH**2)

    def zoom_out(self) -> None:
        self.camera.zoom(NOTCH**-2)

    def zoom_100(self) -> None:
        self.camera.zoom_to(1.0)

    def toggle_minimap(self) -> None:
        self.minimap.toggle()

    def box_rect(self, number: int) -> QRectF:
        return QRectF(*self.arrays.rects[number].tolist())

    # -- doing -----------------------------------------------------------------------------------

    def add(self, type: str = "") -> None:
        """Add a node of `type`, or one that is searched for: where the pointer is, if that is free,
        else beside what is selected, else near the middle."""
        inside = self._pointer is not None and self.viewport().underMouse()
        pixel = self._pointer if inside and self._pointer else self.viewport().rect().center()
        at = looking.place_for_new(self, self.snapped(self.mapToScene(pixel)), pointed=inside)
        if type:
            commands.place(self.workspace, type, at)
        else:
            entries = adding.operations(self.workspace, at)
            self.open_menu(entries, self.viewport().mapToGlobal(pixel))

    def arrange(self) -> None:
        """Lay the graph out anew."""
        self.stage.arrange()

    def toggle_stop(self) -> None:
        """Stop the gradient on the selected wire, else on the one under the pointer, else on the
        wires into the selected nodes."""
        edge = self.workspace.selected_edge
        if edge is None and not self.workspace.selection:
            edge = self._pointed_wire()
        commands.toggle_stop(self.workspace, edge)

    def wire_by_name(self) -> None:
        """Wire the selected node's output without a mouse."""
        keyboard.wire_by_name(self)

    def next_wire(self) -> None:
        """Select the wires into the selected node one after the other."""
        keyboard.next_wire(self)

    def toggle_scope(self) -> None:
        """Collapse the scope around the selected node, or open the selected one."""
        selected = self.stage.facts.selected
        looking.look_into(self, scopes.toggle(self.workspace, self.arrays, selected))

    def inspect(self) -> None:
        """Go to the inspector."""
        self.workspace.view_requested.emit("show", "inspector")

    def escape(self) -> None:
        """Give up the gesture under way; without one, the selection."""
        if self.gesture is not None:
            self.gesture.cancel()
            self.gesture = None
        else:
            self.workspace.select([])

    def open_menu(
        self, entries: Sequence[Entry], where: QPoint, prompt: str = "Add an operation…"
    ) -> None:
        """Open the search menu at a point of the screen."""
        SearchMenu(entries, prompt, self).open_at(where)

    def snapped(self, point: QPointF) -> tuple[float, float]:
        """A point moved onto the grid."""
        return round(point.x() / GRID) * GRID, round(point.y() / GRID) * GRID

    def hit(self, point: QPointF) -> Hit:
        """What lies under a point of the scene."""
        return hit.at(self.arrays, point.toTuple(), self.camera.scale)

    def lift(self, boxes: np.ndarray | None) -> None:
        """Boxes (bool[n]) that are being dragged; None when they are put down."""
        self.layers.lift(boxes)

    # -- events ----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self.gesture is None:
            self.gesture = pressing.begin(self, event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer = event.position().toPoint()
        if self.gesture is not None:
            self.gesture.move(self._pointer, event.modifiers())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        gesture, self.gesture = self.gesture, None
        if gesture is not None:
            gesture.release(event.position().toPoint(), event.modifiers())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pointer = event.position().toPoint()
            pressing.open_at(self, self._pointer)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.camera.pan(event.angleDelta())
        else:
            notches = event.angleDelta().y() / 120
            self.camera.zoom(NOTCH**notches, event.position().toPoint())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.space_held = True
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
            return
        do = keys.find(event)
        if do is None:
            event.ignore()
        else:
            do(self)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.space_held = False
            self.viewport().unsetCursor()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab adds a node; Shift+Tab leaves the canvas."""
        return False if next else super().focusNextPrevChild(next)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            text = tips.text(self.stage, self.hit(self.mapToScene(event.pos())))
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.resetTransform()
        self.layers.draw(painter, self.devicePixelRatioF())
        if self.stage.laying_out:
            painter.setPen(self.workspace.theme.muted)
            text = f"Laying out {len(self.workspace.shown)} nodes…"
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()

    # -- inside ----------------------------------------------------------------------------------

    def _set_up(self) -> None:
        scene = QGraphicsScene(self)
        scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.setScene(scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _connect(self) -> None:
        workspace, stage = self.workspace, self.stage
        stage.changed.connect(self._show_stage)
        stage.facts_changed.connect(self._show_facts)
        workspace.document_opened.connect(self.first_look)
        stage.placed.connect(self.first_look)
        workspace.stopped.connect(self._follow)
        workspace.theme_changed.connect(self._show_theme)
        self.camera.settled.connect(self.viewport().update)
        self.camera.moved.connect(lambda: self.zoom_changed.emit(self.camera.scale))

    def _show_stage(self) -> None:
        self.camera.cover(self.area)
        if self.layers.painter.lifted is None:
            self.layers.refresh()
        self.viewport().update()

    def _show_facts(self) -> None:
        self.layers.refresh_facts()
        self.setAccessibleDescription(speech.selection(self.stage))
        self.viewport().update()

    def _show_theme(self) -> None:
        self.layers.set_theme(self.workspace.theme)
        self.viewport().update()

    def _follow(self) -> None:
        """Keep the debugger's node in view, and say where it is, if it moved: not at an edit."""
        before, self._stood = self._stood, looking.place_of(self.workspace.stop)
        if self._stood != before:
            self.show_current()
            speech.announce(self, speech.current(self.stage))

    def _pointed_wire(self) -> Edge | None:
        if self._pointer is None:
            return None
        link = self.hit(self.mapToScene(self._pointer)).link
        wires = () if link is None else self.arrays.visible.links[link].wires
        return wires[0] if wires else None
