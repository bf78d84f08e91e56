"""Looking for elements: a value, a condition, the smallest, the largest, what is no number."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QPushButton, QWidget

from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource

_READY = (
    ("smallest", "Smallest", "min"),
    ("largest", "Largest", "max"),
    ("nan", "NaN", "nan"),
    ("infinite", "Infinite", "isinf(value)"),
    ("zero", "Zero", "value == 0"),
    ("not_zero", "Not zero", "value != 0"),
)


class _Field(QLineEdit):
    """wanted(forward): Enter or Shift+Enter."""

    wanted = Signal(bool)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.wanted.emit(not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        else:
            super().keyPressEvent(event)


class FindControls(QObject):
    """wanted(condition, forward): go to the next such element. said: a line for what came of it."""

    wanted = Signal(str, bool)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.field = _Field()
        self.field.setObjectName("tensor.find")
        self.field.setAccessibleName(self.tr("Find an element"))
        self.field.setPlaceholderText(self.tr("Find: > 3, max"))
        self.field.setFont(mono(12))
        self.field.setFixedWidth(136)
        tip = self.tr("A value or a condition: 0.66, > 3, == nan, abs(value) > 10, min, max")
        self.field.setToolTip(plain(tip))
        self.field.wanted.connect(self._ask)
        self.previous = self._button("previous", "‹", self.tr("Previous"), forward=False)
        self.next = self._button("next", "›", self.tr("Next"), forward=True)
        self.ready = QPushButton(self.tr("Go to"))
        self.ready.setObjectName("tensor.go_to")
        self.ready.setAccessibleName(self.tr("Go to an element"))
        menu = QMenu(self.ready)
        for name, title, condition in _READY:
            entry = menu.addAction(self.tr(title), partial(self.look_for, condition))
            entry.setObjectName(f"tensor.go_to.{name}")
        self.ready.setMenu(menu)
        self.said = Text(theme, "muted", mono(12))
        self.said.setObjectName("tensor.found")
        self.widgets: tuple[QWidget, ...] = (self._together(), self.ready)

    def _together(self) -> QWidget:
        """What is looked for, and the ways to it: on one line."""
        group = QWidget()
        row = QHBoxLayout(group)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        for widget in (self.field, self.previous, self.next):
            row.addWidget(widget)
        return group

    def _button(self, name: str, sign: str, title: str, forward: bool) -> QPushButton:
        button = QPushButton(sign)
        button.setObjectName(f"tensor.find_{name}")
        button.setAccessibleName(title)
        button.setToolTip(plain(title))
        button.clicked.connect(lambda: self._ask(forward))
        return button

    def look_for(self, condition: str) -> None:
        """As if that had been typed."""
        self.field.setText(condition)
        self._ask(True)

    def _ask(self, forward: bool) -> None:
        if self.field.text().strip():
            self.wanted.emit(self.field.text(), forward)
        else:
            self.field.setFocus()

    def say(self, text: str, wrong: bool = False) -> None:
        """What came of it, or what is wrong with a slice."""
        self.said.set_text(text, "problem" if wrong else "muted")
        self.said.setVisible(bool(text))
