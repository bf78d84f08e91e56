"""The node editor: a view that paints the whole graph from arrays; items are only overlays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView

from gradstep.core.graph.model import Edge
from gradstep.core.layout.box_diagram import GRID
from gradstep.gui import commands
from gradstep.gui.canvas.interact import (
    canvas_keys,
    canvas_requests,
    context_menu,
    gestures,
    mouse,
    screen_reader,
    search_entries,
    tooltips,
    viewport,
)
from gradstep.gui.canvas.interact.camera import NOTCH, Camera
from gradstep.gui.canvas.interact.flash_marker import Revealer
from gradstep.gui.canvas.interact.palette_drop import OpDrop
from gradstep.gui.canvas.interact.paste_gesture import Carry
from gradstep.gui.canvas.interact.search_menu import Entry, SearchMenu
from gradstep.gui.canvas.interact.typed_search import TypedWord
from gradstep.gui.canvas.paint import empty_canvas, picture_export
from gradstep.gui.canvas.paint.legend import Legend
from gradstep.gui.canvas.paint.minimap import Minimap
from gradstep.gui.canvas.paint.paint_layers import Layers
from gradstep.gui.canvas.scene import hit_test, scope_folding
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.count_text import counted
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.model.workspace import Workspace


class GraphView(QGraphicsView):
    """Reads the workspace, and changes things only through gradstep.gui.commands.

    zoom_changed: the scale, 1.0 for 100 %. pointed: whether the mouse is over the canvas.
    """

    zoom_changed = Signal(float)
    pointed = Signal(bool)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(objectName="canvas", accessibleName="Graph canvas")
        self.workspace = workspace
        self._set_up()
        self.stage = SceneModel(workspace, self)
        self.camera = Camera(self)
        self.layers = Layers(self.stage, self.camera, workspace.theme)
        self.gesture: gestures.Gesture | None = None
        self.space_held = False
        self._pointer: QPoint | None = None
        self._held = Qt.MouseButton.NoButton  # which the gesture began with
        self._typed = TypedWord()
        self._stood: object = None
        self._seen = False  # what `first_look` chose
        self._pushed = 0  # pixels, down, before the size follows
        self.minimap = Minimap(self)
        self.legend = Legend(self)
        self._drops = OpDrop(self)
        self._connect()
        self.revealer = Revealer(self)
        self.first_look()

    @property
    def is_pointed(self) -> bool:
        """Whether the mouse is over the canvas."""
        return self.viewport().underMouse()

    @property
    def pointer(self) -> QPoint:
        """Where the mouse was last, in pixels of the viewport; its middle before it ever came."""
        return self._pointer or self.viewport().rect().center()

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
        """Show the whole graph, in a view of another size too, until somebody looks elsewhere."""
        self.camera.frame(self.area)
        self.camera.rest()

    def as_picture(self, suffix: str) -> bytes:
        """The whole graph, as it looks now, as a ".png" or ".svg" file."""
        return picture_export.to_bytes(suffix, self.arrays, self.stage.facts, self.workspace.theme)

    def first_look(self) -> None:
        """The whole graph, or where it begins if it is very large."""
        self._seen = False
        viewport.first_look(self)
        self.camera.rest()

    def push(self, down: int) -> None:
        """A strip above the canvas has come, or gone, and moved its upper edge by so many pixels:
        what is under the pointer stays there."""
        if self._seen:
            self._pushed = down
            self.camera.hold(QPoint(0, down))

    def fit_selection(self) -> None:
        chosen = sorted(self.stage.facts.selected)
        if not chosen:
            self.fit()
            return
        self.camera.frame(viewport.around(self.arrays, chosen))

    def show_current(self) -> None:
        """Bring the node of the current step into view."""
        if self.stage.facts.current is not None:
            self.camera.reveal(self.box_rect(self.stage.facts.current))

    def reveal(self, names: Sequence[str]) -> None:
        """Bring operations or scopes into view, and flash them or the selected wire."""
        self.revealer.reveal(names)

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

    def add(self, type: str = "", text: str = "") -> None:
        """Add a node of `type`, or one that is searched for, by `text` at first: where the pointer
        is, if that is free, else beside what is selected, else near the middle."""
        inside = self._pointer is not None and self.is_pointed
        pixel = self.pointer if inside else self.viewport().rect().center()
        at = viewport.place_for_new(self, self.snapped(self.mapToScene(pixel)), pointed=inside)
        if type:
            commands.place(self.workspace, type, at)
        else:
            entries = search_entries.operations(self.workspace, at)
            self.open_menu(entries, self.viewport().mapToGlobal(pixel), text=text)

    def arrange(self) -> None:
        """Lay the graph out anew."""
        self.stage.arrange()

    def toggle_scope(self) -> None:
        """Collapse the scope around the selected node, or open the selected one."""
        selected = self.stage.facts.selected
        viewport.look_into(self, scope_folding.toggle(self.workspace, self.arrays, selected))

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
        self,
        entries: Sequence[Entry],
        where: QPoint,
        prompt: str = "Add an operation…",
        text: str = "",
    ) -> None:
        """Open the search menu at a point of the screen. text: what is searched at first."""
        menu = SearchMenu(entries, prompt, self)
        menu.field.setText(text)
        menu.open_at(where)

    def snapped(self, point: QPointF) -> tuple[float, float]:
        """A point moved onto the grid."""
        return round(point.x() / GRID) * GRID, round(point.y() / GRID) * GRID

    def hit(self, point: QPointF) -> Hit:
        """What lies under a point of the scene."""
        return hit_test.at(self.arrays, point.toTuple(), self.camera.scale)

    def lift(self, boxes: np.ndarray | None) -> None:
        """Boxes (bool[n]) that are being dragged; None when they are put down."""
        self.layers.lift(boxes)

    def pointed_wire(self) -> Edge | None:
        """The wire under the mouse."""
        if self._pointer is None:
            return None
        link = self.hit(self.mapToScene(self._pointer)).link
        wires = () if link is None else self.arrays.visible.links[link].wires
        return wires[0] if wires else None

    # -- events ----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self.gesture is None:
            self.gesture, self._held = mouse.begin(self, event), event.button()
        elif isinstance(self.gesture, Carry):
            self._held = event.button()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer = event.position().toPoint()
        if self.gesture is not None:
            self.gesture.move(self._pointer, event.modifiers())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        by_other = event.button() is not self._held
        carried = isinstance(self.gesture, Carry) and self._held is not Qt.MouseButton.LeftButton
        if self.gesture is None or by_other or carried:
            return
        gesture, self.gesture = self.gesture, None
        gesture.release(event.position().toPoint(), event.modifiers())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pointer = event.position().toPoint()
            mouse.open_at(self, self._pointer)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.gesture is not None:
            self.escape()
        elif self.workspace.is_open and event.reason() is QContextMenuEvent.Reason.Keyboard:
            context_menu.open_by_key(self)
        elif self.workspace.is_open:
            self._pointer = event.pos()
            context_menu.open_at(self, event.pos(), self.hit(self.mapToScene(event.pos())))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.camera.pan(event.angleDelta())
        else:
            notches = event.angleDelta().y() / 120
            self.camera.zoom(NOTCH**notches, event.position().toPoint())
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in (
            Qt.FocusReason.PopupFocusReason,
            Qt.FocusReason.ActiveWindowFocusReason,
        ):
            self._put_down()
        super().focusOutEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        pushed, self._pushed = self._pushed, 0
        by_strip = pushed and event.size() - event.oldSize() == QSize(0, -pushed)
        if self.camera.untouched and not by_strip:
            self.first_look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in canvas_keys.QUIET:
            self._put_down()
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.space_held = True
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
            return
        word, do = self._typed.note(event), canvas_keys.find(event)
        if word:
            self.add(text=word)
        elif do is not None:
            do(self)
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.space_held = False
            self.viewport().unsetCursor()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab adds a node; Shift+Tab leaves the canvas."""
        return False if next else super().focusNextPrevChild(next)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            text = tooltips.text(self.stage, self.hit(self.mapToScene(event.pos())))
            show_tip(event.globalPos(), text, self.viewport())
            return True
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self.pointed.emit(event.type() is QEvent.Type.Enter)
        return super().viewportEvent(event)

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        self._seen = True
        painter.save()
        painter.resetTransform()
        self.layers.draw(painter, self.devicePixelRatioF())
        if self.stage.laying_out:
            painter.setPen(self.workspace.theme.muted)
            text = f"Laying out {counted(len(self.workspace.shown), 'node')}…"
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, text)
        elif self._is_empty:
            empty_canvas.draw(painter, self.viewport().rect(), self.workspace.theme)
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
        stage.replaced.connect(lambda before: viewport.keep_in_view(self, before))
        workspace.stopped.connect(self._follow)
        workspace.theme_changed.connect(self._show_theme)
        workspace.view_requested.connect(self._answer)
        self.camera.settled.connect(self.viewport().update)
        self.camera.moved.connect(lambda: self.zoom_changed.emit(self.camera.scale))

    @property
    def _is_empty(self) -> bool:
        return self.workspace.is_open and not len(self.workspace.shown)

    def _put_down(self) -> None:
        """Leave what hangs on the pointer where it is."""
        if isinstance(self.gesture, Carry):
            self.gesture.put_down()

    def _answer(self, what: str, target: str) -> None:
        canvas_requests.answer(self, what, target)

    def _show_stage(self) -> None:
        self.camera.untouched = False  # an edit: whoever makes it looks at it
        self.camera.cover(self.area)
        if self.layers.painter.lifted is None:
            self.layers.refresh()
        self.viewport().update()

    def _show_facts(self) -> None:
        self.layers.refresh_facts()
        words = empty_canvas.words() if self._is_empty else screen_reader.selection(self.stage)
        self.setAccessibleDescription(words)
        self.viewport().update()

    def _show_theme(self) -> None:
        self.layers.set_theme(self.workspace.theme)
        self.viewport().update()

    def _follow(self) -> None:
        """Keep the debugger's node in view, and say where it is, if it moved: not at an edit."""
        before, self._stood = self._stood, viewport.place_of(self.workspace.stop)
        if self._stood != before:
            self.show_current()
            screen_reader.announce(self, screen_reader.current(self.stage))
