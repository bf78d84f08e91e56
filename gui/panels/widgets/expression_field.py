"""A field for an expression: the word at the cursor is completed, names of tensors among them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QCompleter, QLineEdit, QWidget

from gradstep.core.debug.breaks.expression_words import FUNCTIONS, NAMES, TABLES
from gradstep.gui.look.theme import mono

_QUOTED = re.compile(r"""\b(?:x|grad|update)\s*\[\s*(["'])([^"']*)$""")
_WORD = re.compile(r"[A-Za-z_][\w/.]*$")
_TAKING = (Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_OFFERED = 60  # at most
_LEAST = 240  # pixels, of the list


class ExpressionField(QLineEdit):
    """Enter or Tab takes what is offered; Escape puts the list away."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(mono(12))
        self._names: tuple[str, ...] = ()
        self._words = QStringListModel(self)
        self.list = QCompleter(self._words, self)
        self.list.setWidget(self)
        self.list.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.list.activated.connect(self._take)
        self.popup = cast("QAbstractItemView", self.list.popup())
        self.popup.installEventFilter(self)
        self.textEdited.connect(lambda _: self._offer())

    def offer(self, names: Iterable[str]) -> None:
        """The operations that there are."""
        self._names = tuple(names)

    def offered(self) -> list[str]:
        """What would be offered where the cursor stands."""
        typed = self.text()[: self.cursorPosition()]
        quoted = _QUOTED.search(typed)
        if quoted is not None:
            return _fitting(quoted[2], self._names)
        word = _WORD.search(typed)
        return [] if word is None or word[0] in NAMES else self._spoken(word[0])

    def _spoken(self, word: str) -> list[str]:
        """Words of the language that begin so, then tensors that have it anywhere in their name."""
        start = word.lower()
        functions = [f"{name}(" for name in FUNCTIONS if name.startswith(start)]
        tables = [f'{name}["' for name in TABLES if name.startswith(start)]
        names = [name for name in NAMES if name.startswith(start)]
        tensors = [f'x["{name}"]' for name in _fitting(word, self._names)]
        return [*names, *functions, *tables, *tensors][:_OFFERED]

    def _offer(self) -> None:
        found = self.offered()
        self._words.setStringList(found)
        if not found:
            self.popup.hide()
            return
        popup, room = self.popup, self.cursorRect()
        popup.setFont(self.font())
        room.setWidth(max(_LEAST, popup.sizeHintForColumn(0) + 32))
        self.list.complete(room)
        popup.setCurrentIndex(self._words.index(0 if self._begins(found[0]) else -1))

    def _begins(self, offered: str) -> bool:
        """Whether it goes on from what is typed, or from an open quote: what only has the word in
        it is not taken by Enter, which may be meant for the whole."""
        typed = self.text()[: self.cursorPosition()]
        word = _WORD.search(typed)
        if word is None or _QUOTED.search(typed):
            return True
        return offered.removeprefix('x["').lower().startswith(word[0].lower())

    def _take(self, chosen: str) -> None:
        """Put what was chosen in place of what was typed of it."""
        cursor = self.cursorPosition()
        before, behind = self.text()[:cursor], self.text()[cursor:]
        quoted, word = _QUOTED.search(before), _WORD.search(before)
        if quoted is not None:
            start = quoted.start(2)
            closing = "" if behind.startswith(quoted[1]) else f"{quoted[1]}]"
            chosen += closing
        else:
            start = cursor if word is None else word.start()
        self.setText(before[:start] + chosen + behind)
        self.setCursorPosition(start + len(chosen))
        if chosen.endswith('["'):
            self._offer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter and Tab take what is marked; without any, Enter is the field's."""
        key = event.key() if isinstance(event, QKeyEvent) else None
        if key not in _TAKING or event.type() is not QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        index = self.popup.currentIndex()
        self.popup.hide()
        if index.isValid():
            self._take(str(index.data()))
        elif key != Qt.Key.Key_Tab:
            self.returnPressed.emit()
        return True

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.popup.hide()
        super().focusOutEvent(event)


def _fitting(part: str, names: Iterable[str]) -> list[str]:
    """Names with it anywhere, in whatever case; those that begin so first. None for nothing."""
    low = part.lower()
    found = [name for name in names if low in name.lower() and name != part]
    return sorted(found, key=lambda name: not name.lower().startswith(low))[:_OFFERED]
