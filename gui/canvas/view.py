"""The node editor: a view that paints the whole graph from arrays; items are only overlays."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView

from gradstep.gui import commands
from gradstep.gui.canvas.interact import screen_reader, tooltips
from gradstep.gui.canvas.interact.aligning import Aligning
from gradstep.gui.canvas.interact.canvas_drops import Drops, ValueDrop
from gradstep.gui.canvas.interact.canvas_keys import CanvasKeys
from gradstep.gui.canvas.interact.canvas_requests import Answers
from gradstep.gui.canvas.interact.context_menu import ContextMenu
from gradstep.gui.canvas.interact.current_gesture import Gestures
from gradstep.gui.canvas.interact.flash_marker import Revealer
from gradstep.gui.canvas.interact.iteration_chooser import IterationChoosers
from gradstep.gui.canvas.interact.keyboard_editing import KeyboardEditing
from gradstep.gui.canvas.interact.mouse import DoubleClicks, Presses
from gradstep.gui.canvas.interact.node_adding import NodeAdding
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.paste_gesture import Copies
from gradstep.gui.canvas.interact.pointer import Pointer
from gradstep.gui.canvas.interact.rename_field import Renaming
from gradstep.gui.canvas.interact.scope_opening import ScopeOpening
from gradstep.gui.canvas.interact.search_menu import Search
from gradstep.gui.canvas.interact.viewport import Framing
from gradstep.gui.canvas.paint import empty_canvas, picture_export
from gradstep.gui.canvas.paint.legend import Legend
from gradstep.gui.canvas.paint.minimap import Minimap
from gradstep.gui.canvas.paint.paint_layers import Layers
from gradstep.gui.canvas.scene.camera import NOTCH, Camera
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.model.workspace import Workspace

# A popup, or another window, takes the focus only for a while.
_BRIEFLY = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)


class GraphView(QGraphicsView):
    """Builds the parts of the canvas, and hands them Qt's events. They read the workspace, and
    change things only through gradstep.gui.commands; none knows this view.

    stage: what is on the canvas. camera: where it looks; framing: what it is made to look at.
    layers: the picture. pointer, gestures: where the mouse is, and what it is doing.
    revealer: shows where something is.
    zoom_changed: the scale, 1.0 for 100 %. pointed: whether the mouse is over the canvas.
    """

    zoom_changed = Signal(float)
    pointed = Signal(bool)
    _facts_waiting = Signal()  # to be shown, before the next paint

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("canvas")
        self.setAccessibleName("Graph canvas")
        self.workspace = workspace
        self._facts_wait = False
        self._edited = QRegion()  # pixels of the viewport that show another graph
        self._set_up()
        self.stage = SceneModel(workspace, self)
        self.camera = Camera(self)
        self.layers = Layers(self.stage, self.camera, workspace.theme)
        self.overlay = Overlay(self)
        self.framing = Framing(self.stage, self.camera)
        self.pointer = Pointer(self.stage, self.camera, self.overlay.port)
        self._build_corners()
        self._build_hands()
        self._connect()
        # After the first look at what was laid out, which would take away what this shows.
        self.revealer = Revealer(workspace, self.stage, self.camera, self.overlay, parent=self)
        self._answers = self._build_answers()
        self.framing.first_look()

    @property
    def is_pointed(self) -> bool:
        """Whether the mouse is over the canvas."""
        return self.pointer.is_over

    @property
    def arrays(self) -> SceneArrays:
        return self.stage.arrays

    def box_rect(self, number: int) -> QRectF:
        return self.stage.box_rect(number)

    # -- what others may ask of it --------------------------------------------------------------

    def as_picture(self, suffix: str) -> bytes:
        """The whole graph, as it looks now, as a ".png" or ".svg" file."""
        return picture_export.to_bytes(suffix, self.arrays, self.stage.facts, self.workspace.theme)

    def fit(self) -> None:
        """Show the whole graph, in a view of another size too, until somebody looks elsewhere."""
        self.framing.fit()

    def first_look(self) -> None:
        """The whole graph, or where it begins if it is very large."""
        self.framing.first_look()

    def push(self, down: int) -> None:
        """A strip above the canvas has come, or gone, and moved its upper edge by so many pixels:
        what is under the pointer stays there."""
        self.framing.push(down)

    def add(self, type: str = "") -> None:
        """Add a node of `type`, or one that is searched for."""
        self._adding.add(type)

    def escape(self) -> None:
        """Give up the gesture under way; without one, the selection."""
        self._keys.escape()

    # -- events ----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.gestures.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer.move_to(event.position().toPoint())
        self.gestures.move(event)
        if not event.buttons() and self.arrays.visible.hubs.all:
            self.stage.point_at(self.pointer.hit(self.pointer.pixel))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.gestures.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.pointer.move_to(event.position().toPoint())
            self._double_clicks.open_at(self.pointer.pixel)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.gestures.cancel() or not self.workspace.is_open:
            return
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            self._menu.open_by_key()
        else:
            self.pointer.move_to(event.pos())
            self._menu.open_at(event.pos(), self.pointer.hit(event.pos()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.camera.pan(event.angleDelta())
        else:
            notches = event.angleDelta().y() / 120
            self.camera.zoom(NOTCH**notches, event.position().toPoint())
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in _BRIEFLY:
            self.gestures.put_down()
        super().focusOutEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.framing.follow_size(event.oldSize(), event.size())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._keys.press(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        self._keys.release(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab adds a node; Shift+Tab leaves the canvas."""
        return False if next else super().focusNextPrevChild(next)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            text = tooltips.text(self.stage, self.pointer.hit(event.pos()))
            show_tip(event.globalPos(), text, self.viewport())
            return True
        if event.type() is QEvent.Type.Paint:
            self.stage.finish()  # nothing moves while it is painted
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self.pointed.emit(event.type() is QEvent.Type.Enter)
            if event.type() is QEvent.Type.Leave:
                self.stage.point_at(Hit())
        return super().viewportEvent(event)

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        self.framing.is_seen = True
        self._take_in_facts()
        painter.save()
        painter.resetTransform()
        self.layers.draw(painter, self.devicePixelRatioF())
        if self.stage.laying_out:
            painter.setPen(self.workspace.theme.muted)
            text = f"Laying out {count_of(len(self.workspace.shown), 'node')}…"
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

    def _build_corners(self) -> None:
        """What lies over the corners of the picture."""
        workspace, stage, layers = self.workspace, self.stage, self.layers
        painters = layers.painter, layers.runtime
        self.minimap = Minimap(workspace, stage, self.camera, *painters, parent=self)
        self.legend = Legend(workspace, stage, parent=self)
        self.iterations = IterationChoosers(
            workspace, stage, self.camera, self.overlay, parent=self
        )

    def _build_hands(self) -> None:
        """What mouse and keys do."""
        workspace, stage, camera, overlay = self.workspace, self.stage, self.camera, self.overlay
        pointer, framing, search = self.pointer, self.framing, Search(overlay)
        lift = self.layers.lift
        self._adding = NodeAdding(workspace, camera, pointer, framing, search)
        self._scopes = ScopeOpening(workspace, stage, framing)
        self._renaming = Renaming(workspace, stage, camera, overlay)
        self._editing = KeyboardEditing(workspace, stage, camera, search)
        presses = Presses(workspace, stage, camera, overlay, pointer, search, lift)
        self.gestures = Gestures(presses, overlay, stage)
        self._copies = Copies(workspace, stage, framing, self.gestures.carry)
        self._menu = ContextMenu(
            workspace, stage, camera, overlay, self._scopes, search, self._adding, self._copies,
            self._editing,
        )  # fmt: skip
        self._double_clicks = DoubleClicks(
            workspace, stage, camera, pointer, self._scopes, self._renaming, self._adding,
            self._inspect,
        )  # fmt: skip
        self._keys = CanvasKeys(
            workspace, camera, pointer, self.gestures, self._adding, self._editing, self._enter
        )
        values = ValueDrop(workspace, stage, pointer, pointer.on_grid, overlay)
        self._drops = Drops(overlay, self._adding.drop, values)

    def _build_answers(self) -> Answers:
        return Answers(
            self.stage, self.camera, self.framing, self.pointer, self.revealer, self.minimap,
            self._scopes, self._adding, self._copies, self._renaming, self._editing,
            Aligning(self.stage),
        )  # fmt: skip

    def _connect(self) -> None:
        workspace, stage, framing = self.workspace, self.stage, self.framing
        stage.changed.connect(self._show_stage)
        stage.facts_changed.connect(self._show_facts)
        self._facts_waiting.connect(self._show_waiting_facts, Qt.ConnectionType.QueuedConnection)
        for nothing_more in (workspace.debugger.told, workspace.document_opened):
            nothing_more.connect(self._show_waiting_facts)
        workspace.document_opened.connect(self.first_look)
        stage.placed.connect(self.first_look)
        stage.replaced.connect(framing.follow_edit)
        workspace.stopped.connect(self._follow)
        workspace.entered.connect(lambda: commands.show_stop(workspace))
        workspace.theme_changed.connect(self._show_theme)
        workspace.view_requested.connect(self._answer)
        self.camera.settled.connect(self.viewport().update)
        self.camera.moved.connect(lambda: self.zoom_changed.emit(self.camera.scale))

    @property
    def _is_empty(self) -> bool:
        return self.workspace.is_open and not len(self.workspace.shown)

    def _enter(self) -> None:
        """Look into what is selected."""
        if not self._scopes.open_selected():
            self._inspect()

    def _inspect(self) -> None:
        self.workspace.view_requested.emit("show", "inspector")

    def _answer(self, what: str, target: str) -> None:
        self._answers.answer(what, target)

    def _show_stage(self) -> None:
        self.camera.untouched = False  # an edit: whoever makes it looks at it
        self.camera.cover(self.stage.area)
        if self.layers.painter.lifted is not None:  # it follows the mouse
            self.viewport().update()
            return
        self._edited += self.layers.follow_edit()
        self._show_facts()  # what is painted anew says what is said now

    def _show_facts(self) -> None:
        """Before the next paint, and once: a reply of the engine says several things at once, and
        what it says of an edit comes with that where it comes soon."""
        if not self._facts_wait:
            self._facts_wait = True
            self._facts_waiting.emit()

    def _show_waiting_facts(self) -> None:
        if self.stage.is_behind:
            self._facts_wait = False  # they are shown with what is being made
        elif not self.workspace.debugger.is_telling:
            self._take_in_facts()

    def _take_in_facts(self) -> None:
        if not self._facts_wait:
            return
        self._facts_wait = False
        words = empty_canvas.words() if self._is_empty else screen_reader.selection(self.stage)
        self.setAccessibleDescription(words)
        changed, self._edited = self._edited + self.layers.refresh_facts(), QRegion()
        if not changed.isEmpty():
            self.viewport().update(changed)

    def _show_theme(self) -> None:
        self.layers.set_theme(self.workspace.theme)
        self.viewport().update()

    def _follow(self) -> None:
        """Keep the debugger's node in view, and say where it is."""
        if self.framing.follow_stop(self.workspace.stop):
            screen_reader.announce(self, screen_reader.current(self.stage))
