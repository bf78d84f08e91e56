"""One editor widget for each kind of attribute: a box, a list of types, or a line of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.gui.look.theme import mono
from gradstep.gui.panels.inspector.attribute_text import attr_text, read_attr
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.small_labels import ThemeSource

Change = Callable[[Any], object]  # False: the value was refused
Complain = Callable[[GradstepError], None]

_NO_VALUE = (DType.RESOURCE, DType.VARIANT)  # nobody writes down what is of these


def attr_editor(
    theme: ThemeSource,
    name: str,
    value: Any,
    like: Any,
    change: Change,
    complain: Complain,
    choices: Sequence[Any] = (),
) -> QWidget:
    """An editor for `value`; `like` is a value or type that tells the kind, `choices` are the
    values it may have where they are few. `change` gets the new value, `complain` what is wrong
    with the text."""
    if isinstance(value, bool) or like is bool:
        return _check_box(theme, name, bool(value), change)
    if choices:
        return _choice_box(name, value, choices, change)
    if isinstance(value, DType) or like is DType:
        return _choice_box(name, value, [d for d in DType if d not in _NO_VALUE], change)
    text = "" if value is None else attr_text(value)
    return text_editor(name, text, lambda typed: change(read_attr(typed, like)), complain)


def text_editor(name: str, text: str, change: Change, complain: Complain) -> QLineEdit:
    """A line that Enter or leaving takes over; Escape and bad text put the old one back. Enter
    gives up the focus, but where the text was refused."""
    editor = _Line(text)
    editor.setObjectName(name)
    editor.setAccessibleName(name.rpartition(".")[2])

    def finished() -> None:
        editor.refused = False
        if editor.text() == editor.before:
            return
        try:
            refused = change(editor.text()) is False
        except GradstepError as error:
            complain(error)
            refused = True
        if refused:
            editor.setText(editor.before)
        editor.refused = refused
        editor.before = editor.text()

    editor.editingFinished.connect(finished)
    return editor


class _Line(QLineEdit):
    """Remembers what it said before the user typed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.before, self.refused = text, False
        self.setFont(mono(12))
        self.setCursorPosition(0)
        self.setMinimumWidth(40)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self.before)
            self.selectAll()
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.refused:
            self.clearFocus()


def _check_box(theme: ThemeSource, name: str, value: bool, change: Change) -> Check:
    box = Check(theme, "", name)
    box.setChecked(value)
    box.toggled.connect(change)
    return box


def _choice_box(name: str, value: Any, choices: Sequence[Any], change: Change) -> QComboBox:
    """A list of `choices`; a `value` that is none of them is shown, and can be left."""
    box = QComboBox()
    box.setObjectName(name)
    box.setAccessibleName(name.rpartition(".")[2])
    box.setFont(mono(12))
    values = [*choices, *([] if value is None or value in choices else [value])]
    box.addItems([attr_text(choice) for choice in values])
    box.setCurrentIndex(-1 if value is None else values.index(value))

    def chosen(index: int) -> None:
        nonlocal value
        if values[index] != value and change(values[index]) is not False:
            value = values[index]
        box.setCurrentIndex(-1 if value is None else values.index(value))

    box.activated.connect(chosen)
    return box
