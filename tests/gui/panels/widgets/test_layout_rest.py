"""Parts that come and go at once are laid out once, as if they had been so from the beginning."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.widgets.layout_rest import at_rest
from gradstep.gui.panels.widgets.small_labels import Wrapped
from tests.support.resizes import Resizes

SECTIONS, LINES = 4, 3


class Column(QWidget):
    """Sections of paragraphs."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        self.sections = [QWidget() for _ in range(SECTIONS)]
        self.lines: list[Wrapped] = []
        for section in self.sections:
            inside = QVBoxLayout(section)
            for _ in range(LINES):
                self.lines.append(Wrapped(lambda: DARK, "line"))
                self.lines[-1].setText("some words that take two lines of so little room")
                inside.addWidget(self.lines[-1])
            column.addWidget(section)
        column.addStretch(1)

    def change(self) -> None:
        for number, line in enumerate(self.lines):
            line.setVisible(number % 3 != 1)
            line.setText("other words " * (number % 4))
        for number, section in enumerate(self.sections):
            section.setVisible(number != 2)

    def hide_some(self) -> None:
        for line in self.lines[::2]:
            line.hide()
        self.sections[0].hide()

    def places(self) -> list[object]:
        parts = (*self.sections, *self.lines)
        return [part.geometry() for part in parts if part.isVisible()]


def shown(qtbot: QtBot) -> Column:
    made = Column()
    qtbot.addWidget(made)
    made.resize(200, 600)
    made.hide_some()
    made.show()
    qtbot.wait(20)
    return made


def test_nothing_is_laid_out_meanwhile_and_all_of_it_soon(qtbot: QtBot) -> None:
    column, beside, watch = shown(qtbot), shown(qtbot), Resizes()
    watch.follow((*column.sections, *column.lines))
    with at_rest(column, *column.sections):
        column.change()
        assert watch.count == 0
    beside.change()
    qtbot.wait(20)
    assert watch.count
    assert column.places() == beside.places()


def test_it_ends_with_an_error_as_well(qtbot: QtBot) -> None:
    column, beside = shown(qtbot), shown(qtbot)

    def fail() -> None:
        with at_rest(column, *column.sections):
            column.change()
            raise KeyError("words")

    with pytest.raises(KeyError, match="words"):
        fail()
    beside.change()
    qtbot.wait(20)
    assert column.places() == beside.places()


def test_one_within_another_does_not_end_it(qtbot: QtBot) -> None:
    column, watch = shown(qtbot), Resizes()
    watch.follow((*column.sections, *column.lines))
    with at_rest(column, *column.sections):
        with at_rest(column.sections[1]):
            pass
        column.change()
        assert watch.count == 0
