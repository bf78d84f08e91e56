"""Typing letters over the canvas: where they begin an operation's name, its search opens."""

from __future__ import annotations

import time
from functools import cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from gradstep.core.ops.declare.table import all_ops

QUICK = 0.3  # seconds between two letters of a word
_COMMAND = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class TypedWord:
    """Letters that follow each other quickly."""

    def __init__(self) -> None:
        self._letters = ""
        self._last = 0.0

    def note(self, event: QKeyEvent) -> str:
        """The letters so far, if there are several and an operation's name begins with them; else
        "", and the key means what it means by itself."""
        letter, now = event.text(), time.monotonic()
        if not letter.isalpha() or event.modifiers() & _COMMAND or event.isAutoRepeat():
            self._letters = ""
            return ""
        before = self._letters if now - self._last < QUICK else ""
        self._letters, self._last = before + letter.lower(), now
        if not before or self._letters not in _beginnings():
            return ""
        word, self._letters = self._letters, ""
        return word


@cache
def _beginnings() -> frozenset[str]:
    """The first letters, two and more, of all op types, in lower case."""
    import gradstep.core.ops.catalogue  # noqa: F401 - declares every op

    names = [definition.type.lower() for definition in all_ops()]
    return frozenset(name[:end] for name in names for end in range(2, len(name) + 1))
