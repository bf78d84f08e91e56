"""Keys act where the pointer is: on the canvas while the mouse is over it, whatever has the focus.

What cannot act says why. Who types into a field is never disturbed; a field that is done, and
whatever else gives up the focus, leaves it to the canvas.
"""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QKeyCombination, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget
from shiboken6 import isValid

from gradstep.gui.actions.action_record import shown_key
from gradstep.gui.actions.action_table import ACTIONS
from gradstep.gui.canvas.interact import canvas_keys as keys

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView


class PointerKeys(QObject):
    """Gives letters and Home to the canvas while the mouse is over it. Other keys of the canvas
    come here only if what has the focus has no use for them."""

    def __init__(self, window: QWidget, canvas: GraphView) -> None:
        super().__init__(window)
        self._window, self._canvas = window, canvas
        named = (key for row in ACTIONS if row.canvas for key in row.keys if _is_plain(key))
        keys = dict.fromkeys((*named, *ascii_uppercase))  # any letter may begin a word
        self._shortcuts = [self._shortcut(QKeySequence(key), window) for key in keys]
        canvas.pointed.connect(self._follow)
        self._enable(False)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._pass_focus)

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
            workspace.say(text)
        return True

    def _shortcut(self, key: QKeySequence, window: QWidget) -> QShortcut:
        shortcut = QShortcut(key, window)
        shortcut.activated.connect(lambda: self._press(key[0]))  # type: ignore[index]  # which Qt has
        return shortcut

    def _press(self, pressed: QKeyCombination) -> None:
        self._canvas.setFocus()
        key, modifiers = pressed.key(), pressed.keyboardModifiers()
        event = QKeyEvent(QEvent.Type.KeyPress, key, modifiers, QKeySequence(key).toString())
        self._canvas.keyPressEvent(event)

    def _follow(self, pointed: bool) -> None:
        """The mouse came to the canvas, or left it. A control that was clicked is done then; a
        field may still be typed into, and a list be walked along."""
        self._enable(pointed)
        focused = self._window.focusWidget()
        if pointed and isinstance(focused, QAbstractButton | QComboBox):
            self._canvas.setFocus()

    def hold_focus(self) -> None:
        """Give the canvas the focus if nobody in the window has it: Qt would give it to whatever
        comes first."""
        if self._canvas.isVisible() and self._window.focusWidget() is None:
            self._canvas.setFocus()

    def _pass_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """The same where somebody gave it up, or is gone, and Qt gave it to whatever came next."""
        if not isValid(self._window) or not self._window.isActiveWindow():
            return
        if now is None:
            self.hold_focus()
        elif _is_gone(before) and now.window() is self._window and self._canvas.isVisible():
            self._canvas.setFocus()

    def _enable(self, pointed: bool) -> None:
        for shortcut in self._shortcuts:
            shortcut.setEnabled(pointed)


def _is_plain(key: str) -> bool:
    """Whether it is a letter, with Shift perhaps, or Home."""
    return len(key.removeprefix("Shift+")) == 1 or key == "Home"


def _is_gone(widget: QWidget | None) -> bool:
    return widget is not None and (not isValid(widget) or not widget.isVisible())
