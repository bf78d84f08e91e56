"""The keys of the canvas: one table; those that menus also have mean the same there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from gui import commands
from gui.canvas import keyboard

if TYPE_CHECKING:
    from gui.canvas.view import GraphView

Key, Modifier = Qt.Key, Qt.KeyboardModifier
NONE, CTRL, SHIFT = Modifier.NoModifier, Modifier.ControlModifier, Modifier.ShiftModifier
Do = Callable[["GraphView"], None]
ARROWS: Mapping[Key, tuple[int, int]] = {
    Key.Key_Left: (-1, 0),
    Key.Key_Right: (1, 0),
    Key.Key_Up: (0, -1),
    Key.Key_Down: (0, 1),
}


def _walk(dx: int, dy: int) -> Do:
    return lambda view: keyboard.walk(view, dx, dy)


def _nudge(dx: int, dy: int) -> Do:
    return lambda view: keyboard.nudge(view, dx, dy)


def _breakpoint(view: GraphView) -> None:
    if view.workspace.selection:
        commands.toggle_breakpoint(view.workspace)


TABLE: Mapping[tuple[Key, Modifier], Do] = {
    (Key.Key_Tab, NONE): lambda view: view.add(),
    (Key.Key_A, SHIFT): lambda view: view.add(),
    (Key.Key_Delete, NONE): lambda view: commands.delete_selection(view.workspace),
    (Key.Key_Backspace, NONE): lambda view: commands.delete_selection(view.workspace),
    (Key.Key_X, NONE): lambda view: commands.delete_selection(view.workspace),
    (Key.Key_D, CTRL): lambda view: commands.duplicate_selection(view.workspace),
    (Key.Key_F, NONE): lambda view: view.fit_selection(),
    (Key.Key_A, NONE): lambda view: view.fit(),
    (Key.Key_Home, NONE): lambda view: view.fit(),
    (Key.Key_C, NONE): lambda view: view.show_current(),
    (Key.Key_S, NONE): lambda view: view.toggle_stop(),
    (Key.Key_F9, NONE): _breakpoint,
    (Key.Key_L, NONE): lambda view: view.arrange(),
    (Key.Key_W, NONE): keyboard.wire_by_name,
    (Key.Key_W, SHIFT): keyboard.run_after,
    (Key.Key_E, NONE): keyboard.next_wire,
    (Key.Key_H, NONE): lambda view: view.toggle_scope(),
    (Key.Key_O, NONE): lambda view: view.toggle_minimap(),
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
    return TABLE.get((Key(event.key()), modifiers))
