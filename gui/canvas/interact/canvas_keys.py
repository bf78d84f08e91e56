"""The keys of the canvas: those of actions, by the one table of actions, and a few of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from gradstep.gui import commands
from gradstep.gui.canvas.interact import keyboard_editing
from gradstep.gui.frame.action_record import Action
from gradstep.gui.frame.action_table import ACTIONS, BY_ID

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView
    from gradstep.gui.model.workspace import Workspace

Key, Modifier = Qt.Key, Qt.KeyboardModifier
NONE, CTRL, SHIFT = Modifier.NoModifier, Modifier.ControlModifier, Modifier.ShiftModifier
Do = Callable[["GraphView"], None]
ARROWS: Mapping[Key, tuple[int, int]] = {
    Key.Key_Left: (-1, 0),
    Key.Key_Right: (1, 0),
    Key.Key_Up: (0, -1),
    Key.Key_Down: (0, 1),
}
QUIET = {Key.Key_Escape, Key.Key_Shift, Key.Key_Control, Key.Key_Alt, Key.Key_AltGr, Key.Key_Meta}
ROWS: Mapping[str, Action] = {
    QKeySequence(key).toString(): action for action in ACTIONS for key in action.keys
}


def _walk(dx: int, dy: int) -> Do:
    return lambda view: keyboard_editing.walk(view, dx, dy)


def _nudge(dx: int, dy: int) -> Do:
    return lambda view: keyboard_editing.nudge(view, dx, dy)


def _stop(view: GraphView) -> None:
    """Stop the gradient where something is selected, else on the wire under the pointer."""
    wire = None if BY_ID["graph.stop_gradient"].enabled(view.workspace) else view.pointed_wire()
    if wire is None:
        run(view.workspace, BY_ID["graph.stop_gradient"])
    else:
        commands.toggle_stop(view.workspace, wire)


TABLE: Mapping[tuple[Key, Modifier], Do] = {
    (Key.Key_Tab, NONE): lambda view: view.add(),
    (Key.Key_S, NONE): _stop,
    (Key.Key_Plus, NONE): lambda view: view.zoom_in(),
    (Key.Key_Minus, NONE): lambda view: view.zoom_out(),
    (Key.Key_1, NONE): lambda view: view.zoom_100(),
    (Key.Key_Escape, NONE): lambda view: view.escape(),
    (Key.Key_Return, NONE): lambda view: view.inspect(),
    (Key.Key_Enter, NONE): lambda view: view.inspect(),
    **{(key, NONE): _walk(*way) for key, way in ARROWS.items()},
    **{(key, CTRL): _nudge(*way) for key, way in ARROWS.items()},
}


def find(event: QKeyEvent) -> Do | None:
    """What a key press means on the canvas, if anything."""
    modifiers = event.modifiers() & ~Modifier.KeypadModifier
    if event.key() == Key.Key_Plus:  # wherever the layout has it
        modifiers = NONE
    own = TABLE.get((Key(event.key()), modifiers))
    row = row_of(event)
    if own is not None or row is None:
        return own
    return lambda view: run(view.workspace, row)


def row_of(event: QKeyEvent) -> Action | None:
    """The action that a key press means."""
    modifiers = event.modifiers() & ~Modifier.KeypadModifier
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
