"""The keys of the canvas: those of actions, by the one table of actions, and a few of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from gradstep.gui import commands
from gradstep.gui.actions.action_record import Action
from gradstep.gui.actions.action_table import ACTIONS, BY_ID
from gradstep.gui.canvas.interact.current_gesture import Gestures
from gradstep.gui.canvas.interact.keyboard_editing import KeyboardEditing
from gradstep.gui.canvas.interact.node_adding import NodeAdding
from gradstep.gui.canvas.interact.pointer import Pointer
from gradstep.gui.canvas.interact.typed_search import TypedWord
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.model.workspace import Workspace

Key = Qt.Key
_Modifier = Qt.KeyboardModifier
NONE, CTRL = _Modifier.NoModifier, _Modifier.ControlModifier
Do = Callable[[], object]
ARROWS: Mapping[Qt.Key, tuple[int, int]] = {
    Key.Key_Left: (-1, 0),
    Key.Key_Right: (1, 0),
    Key.Key_Up: (0, -1),
    Key.Key_Down: (0, 1),
}
QUIET = {Key.Key_Escape, Key.Key_Shift, Key.Key_Control, Key.Key_Alt, Key.Key_AltGr, Key.Key_Meta}
ROWS: Mapping[str, Action] = {
    QKeySequence(key).toString(): action for action in ACTIONS for key in action.keys
}


class CanvasKeys:
    """Does what a key means on the canvas."""

    def __init__(
        self,
        workspace: Workspace,
        camera: Camera,
        pointer: Pointer,
        gestures: Gestures,
        adding: NodeAdding,
        editing: KeyboardEditing,
        enter: Callable[[], None],
    ) -> None:
        self._workspace = workspace
        self._pointer = pointer
        self._gestures = gestures
        self._adding = adding
        self._typed = TypedWord()
        self._own: Mapping[tuple[Qt.Key, Qt.KeyboardModifier], Do] = {
            (Key.Key_Tab, NONE): adding.add,
            (Key.Key_S, NONE): self._stop,
            (Key.Key_Plus, NONE): camera.zoom_in,
            (Key.Key_Minus, NONE): camera.zoom_out,
            (Key.Key_1, NONE): camera.zoom_100,
            (Key.Key_Escape, NONE): self.escape,
            (Key.Key_Return, NONE): enter,
            (Key.Key_Enter, NONE): enter,
            **{(key, NONE): partial(editing.walk, *way) for key, way in ARROWS.items()},
            **{(key, CTRL): partial(editing.nudge, *way) for key, way in ARROWS.items()},
        }

    def press(self, event: QKeyEvent) -> None:
        """Do what a key means; ignore the event if it means nothing."""
        if event.key() not in QUIET:
            self._gestures.put_down()
        if _is_space(event):
            self._gestures.hold_space()
            return
        word, do = self._typed.note(event), self._find(event)
        if word:
            self._adding.add(text=word)
        elif do is not None:
            do()
        else:
            event.ignore()

    def release(self, event: QKeyEvent) -> None:
        if _is_space(event):
            self._gestures.release_space()

    def escape(self) -> None:
        """Give up the gesture under way; without one, the selection."""
        if not self._gestures.cancel():
            self._workspace.select([])

    def _find(self, event: QKeyEvent) -> Do | None:
        """What a key press means on the canvas, if anything."""
        modifiers = event.modifiers() & ~_Modifier.KeypadModifier
        if event.key() == Key.Key_Plus:  # wherever the layout has it
            modifiers = NONE
        own = self._own.get((Key(event.key()), modifiers))
        row = row_of(event)
        if own is not None or row is None:
            return own
        return partial(run, self._workspace, row)

    def _stop(self) -> None:
        """Stop the gradient where something is selected, else on the wire under the pointer."""
        stop = BY_ID["graph.stop_gradient"]
        wire = None if stop.enabled(self._workspace) else self._pointer.wire
        if wire is None:
            run(self._workspace, stop)
        else:
            commands.toggle_stop(self._workspace, wire)


def _is_space(event: QKeyEvent) -> bool:
    return event.key() == Key.Key_Space and not event.isAutoRepeat()


def row_of(event: QKeyEvent) -> Action | None:
    """The action that a key press means."""
    modifiers = event.modifiers() & ~_Modifier.KeypadModifier
    pressed = QKeyCombination(modifiers, Key(event.key()))
    return ROWS.get(QKeySequence(pressed).toString())


def run(workspace: Workspace, row: Action) -> None:
    """Do it, or say why not."""
    if not say_why_not(workspace, row):
        row.run(workspace)


def say_why_not(workspace: Workspace, row: Action) -> bool:
    """Tell what is in the way of an action; whether something is."""
    why_not = row.obstacle(workspace)
    if why_not:
        workspace.message.emit("info", why_not)
    return bool(why_not)
