"""One editor widget for each kind of attribute: a box, a list of types, or a line of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.gui.look.theme import mono
from gradstep.gui.model.error_words import words
from gradstep.gui.panels.inspector.attribute_text import attr_text, read_attr
from gradstep.gui.panels.inspector.reasoned_field import ReasonedField
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.small_labels import ThemeSource

Change = Callable[[Any], object]  # False: the value was refused
Refuse = Callable[[str], None]  # with the reason, also later
TextChange = Callable[[str, Refuse], bool]  # False: nothing is other than before
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
    of: str,
    value: Any,
    like: Any,
    change: Callable[[Any, Refuse], bool],
    complain: Complain,
    choices: Sequence[Any] = (),
) -> Editor:
    """An editor for `value` of the node `of`; `like` is a value or type that tells the kind,
    `choices` are the values it may have where they are few. `change` gets the new value, `complain`
    what is wrong with the text."""

    def choose(value: Any) -> bool:
        return change(value, lambda reason: None)  # the old one is shown again

    if isinstance(value, bool) or like is bool:
        return _check_box(theme, name, bool(value), choose)
    if choices:
        return _choice_box(name, value, choices, choose)
    if isinstance(value, DType) or like is DType:
        return _choice_box(name, value, [d for d in DType if d not in _NO_VALUE], choose)
    text = "" if value is None else attr_text(value)

    def enter(typed: str, refuse: Refuse) -> bool:
        return change(read_attr(typed, like), refuse)

    return text_editor(theme, name, of, text, enter, complain)


def text_editor(
    theme: ThemeSource,
    name: str,
    of: str,
    text: str,
    change: TextChange,
    complain: Complain,
    placeholder: str = "",
) -> Editor:
    """A line for a text of the node `of`, that Enter or leaving takes over. What is refused stays,
    with the reason below it, until it is mended; Escape puts the old text back. Enter gives up the
    focus, but where the text was refused."""

    def fill(editor: LineEditor) -> None:
        editor.line.show_text(of, text, change, complain)

    return Editor(f"line {name}", partial(LineEditor, theme, name, placeholder), fill)


class Line(QLineEdit):
    """Remembers what it said before the user typed, and why what was typed cannot be.

    told: why the text is wrong; "" once it is not, or is another one.
    """

    told = Signal(str)

    def __init__(self, name: str, placeholder: str = "") -> None:
        super().__init__()
        self._of, self._before, self._wrong = "", "", ""
        self._tried: str | None = None  # Enter and leaving both finish: a text is tried once
        self._change: TextChange = lambda text, refuse: False
        self._complain: Complain = lambda error: None
        self.setObjectName(name)
        self.setAccessibleName(name.rpartition(".")[2])
        self.setPlaceholderText(placeholder)
        self.setFont(mono(12))
        self.setMinimumWidth(40)
        self.editingFinished.connect(self._finish)
        self.textEdited.connect(lambda: self._forget())

    def show_text(self, of: str, text: str, change: TextChange, complain: Complain) -> None:
        """Be the editor of a text of `of`. What was typed for another one is applied to that; what
        was refused stays while that which it was to replace is as it was."""
        if self.hasFocus():
            self._finish()
        self._change, self._complain = change, complain
        if self._wrong and (of, text) == (self._of, self._before):
            return
        self._of, self._before = of, text
        self._forget()
        self.setText(text)
        self.setCursorPosition(0)

    def _finish(self) -> None:
        text = self.text()
        if text in (self._before, self._tried):
            return
        self._tried = text
        try:
            taken = self._change(text, partial(self._refuse, self._of, text))
        except GradstepError as error:
            self._complain(error)
            self._refuse(self._of, text, words(error))
            return
        if not taken and not self._wrong:
            self.setText(self._before)

    def _refuse(self, of: str, text: str, reason: str) -> None:
        """The text stays, to be mended; a file may say so late."""
        if (of, text) == (self._of, self.text()):
            self._tell(reason)

    def _forget(self) -> None:
        self._tried = None
        self._tell("")

    def _tell(self, reason: str) -> None:
        if reason != self._wrong:
            self._wrong = reason
            self.told.emit(reason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._before)
            self._forget()
            self.selectAll()
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._wrong:
            self.clearFocus()


class LineEditor(ReasonedField):
    """A line, and below it why what was typed there cannot be."""

    def __init__(self, theme: ThemeSource, name: str, placeholder: str = "") -> None:
        line = Line(name, placeholder)
        super().__init__(theme, line, line.told)
        self.line = line


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
