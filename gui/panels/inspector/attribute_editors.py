"""One editor widget for each kind of attribute: a box, a list of types, or a line of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

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


class Editor(NamedTuple):
    """kind: of what another may be made. make: the widget; fill: has it, or one of the same kind,
    edit this value."""

    kind: str
    make: Callable[[], QWidget]
    fill: Callable[[Any], object]


def attr_editor(
    theme: ThemeSource,
    name: str,
    value: Any,
    like: Any,
    change: Change,
    complain: Complain,
    choices: Sequence[Any] = (),
) -> Editor:
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


def text_editor(
    name: str, text: str, change: Change, complain: Complain, placeholder: str = ""
) -> Editor:
    """A line that Enter or leaving takes over; Escape and bad text put the old one back. Enter
    gives up the focus, but where the text was refused."""

    def fill(line: Line) -> None:
        line.show_text(text, change, complain)

    return Editor(f"line {name}", partial(Line, name, placeholder), fill)


class Line(QLineEdit):
    """Remembers what it said before the user typed."""

    def __init__(self, name: str, placeholder: str = "") -> None:
        super().__init__()
        self.before, self.refused = "", False
        self._change: Change = lambda text: None
        self._complain: Complain = lambda error: None
        self.setObjectName(name)
        self.setAccessibleName(name.rpartition(".")[2])
        self.setPlaceholderText(placeholder)
        self.setFont(mono(12))
        self.setMinimumWidth(40)
        self.editingFinished.connect(self._finish)

    def show_text(self, text: str, change: Change, complain: Complain) -> None:
        """Be the editor of another text. What was typed for the one before is applied to that."""
        if self.hasFocus():
            self._finish()
        self._change, self._complain = change, complain
        self.before, self.refused = text, False
        self.setText(text)
        self.setCursorPosition(0)

    def _finish(self) -> None:
        self.refused = False
        if self.text() == self.before:
            return
        try:
            refused = self._change(self.text()) is False
        except GradstepError as error:
            self._complain(error)
            refused = True
        if refused:
            self.setText(self.before)
        self.refused = refused
        self.before = self.text()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self.before)
            self.selectAll()
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.refused:
            self.clearFocus()


class _CheckEditor(Check):
    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__(theme, "", name)
        self._change: Change = lambda value: None
        self.toggled.connect(lambda value: self._change(value))

    def show_value(self, value: bool, change: Change) -> None:
        self._change = lambda value: None  # it is told, and tells nobody
        self.setChecked(value)
        self._change = change


class _ChoiceEditor(QComboBox):
    """A list of values; one that is none of them is shown, and can be left."""

    def __init__(self, name: str, choices: Sequence[Any]) -> None:
        super().__init__()
        self._choices = self._values = [*choices]
        self._value: Any = None
        self._change: Change = lambda value: None
        self.setObjectName(name)
        self.setAccessibleName(name.rpartition(".")[2])
        self.setFont(mono(12))
        self.addItems([attr_text(choice) for choice in choices])
        self.activated.connect(self._chosen)

    def show_value(self, value: Any, change: Change) -> None:
        self._value, self._change = value, change
        own = [] if value is None or value in self._choices else [value]
        while self.count() > len(self._choices):
            self.removeItem(self.count() - 1)
        self.addItems([attr_text(other) for other in own])
        self._values = [*self._choices, *own]
        self._show_own()

    def _show_own(self) -> None:
        self.setCurrentIndex(-1 if self._value is None else self._values.index(self._value))

    def _chosen(self, index: int) -> None:
        value = self._values[index]
        if value != self._value and self._change(value) is not False:
            self._value = value
        self._show_own()


def _check_box(theme: ThemeSource, name: str, value: bool, change: Change) -> Editor:
    def fill(box: _CheckEditor) -> None:
        box.show_value(value, change)

    return Editor(f"box {name}", partial(_CheckEditor, theme, name), fill)


def _choice_box(name: str, value: Any, choices: Sequence[Any], change: Change) -> Editor:
    def fill(box: _ChoiceEditor) -> None:
        box.show_value(value, change)

    return Editor(f"choice {name} of {choices}", partial(_ChoiceEditor, name, choices), fill)
