"""Keys act where the pointer is: the canvas's work while the mouse is over it, whatever has the
focus; what cannot act says why. Who types into a field is never disturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QKeyCombination, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from gui.action import shown_key
from gui.actions import ACTIONS
from gui.canvas import keys

if TYPE_CHECKING:
    from gui.canvas.view import GraphView


class PointerKeys(QObject):
    """Gives letters and Home to the canvas while the mouse is over it. Other keys of the canvas
    come here only if what has the focus has no use for them."""

    def __init__(self, window: QWidget, canvas: GraphView) -> None:
        super().__init__(window)
        self._canvas = canvas
        self._shortcuts = [
            self._shortcut(QKeySequence(key), window)
            for row in ACTIONS
            if row.canvas
            for key in row.keys
            if _is_plain(key)
        ]
        canvas.pointed.connect(self._enable)
        self._enable(False)

    def take(self, event: QKeyEvent) -> bool:
        """Do what a key means that nobody took, or say why it cannot be done; whether it means
        anything."""
        row = keys.row_of(event)
        if row is None:
            return False
        workspace = self._canvas.workspace
        if not row.canvas or not workspace.is_open:
            keys.say_why_not(workspace, row)
        elif self._canvas.is_pointed:
            self._canvas.setFocus()
            self._canvas.keyPressEvent(event)
        else:
            key = shown_key(QKeySequence(event.keyCombination()).toString())
            title = row.title.rstrip("…")
            text = f"{key} ({title}) is a key of the canvas: point at it, or click it"
            workspace.message.emit("info", text)
        return True

    def _shortcut(self, key: QKeySequence, window: QWidget) -> QShortcut:
        shortcut = QShortcut(key, window)
        shortcut.activated.connect(lambda: self._press(key[0]))
        return shortcut

    def _press(self, pressed: QKeyCombination) -> None:
        self._canvas.setFocus()
        key, modifiers = pressed.key(), pressed.keyboardModifiers()
        event = QKeyEvent(QEvent.Type.KeyPress, key, modifiers, QKeySequence(key).toString())
        self._canvas.keyPressEvent(event)

    def _enable(self, pointed: bool) -> None:
        for shortcut in self._shortcuts:
            shortcut.setEnabled(pointed)


def _is_plain(key: str) -> bool:
    """Whether it is a letter, with Shift perhaps, or Home."""
    return len(key.removeprefix("Shift+")) == 1 or key == "Home"
