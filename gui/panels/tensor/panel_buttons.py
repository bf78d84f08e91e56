"""The small buttons over a tensor: a name for tests and screen readers, and a tip."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QWidget

from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID


def button(text: str, name: str, tip: str = "") -> QPushButton:
    """tip: what it does, where its text is not enough."""
    made = QPushButton(text)
    made.setObjectName(name)
    made.setAccessibleName(tip or text)
    made.setToolTip(plain(tip))
    return made


def switch(text: str, name: str, tip: str = "") -> QPushButton:
    """One that stays down."""
    made = button(text, name, tip)
    made.setCheckable(True)
    return made


def gap() -> QWidget:
    """Between buttons of different sorts."""
    space = QWidget()
    space.setFixedWidth(GRID // 2)
    return space
