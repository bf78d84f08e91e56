"""The flat table: what of it is asked for and painted anew when something about it changes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

ROWS = 3


class Words(CellModel):
    """Each cell says its row and column, and how often all of it changed."""

    headers = ("a", "b", "c")

    def __init__(self) -> None:
        super().__init__()
        self.edits = {0: 0, 1: 0, 2: 0}

    def count(self) -> int:
        return ROWS

    def cell(self, row: int, column: int) -> Cell:
        return Cell(f"{row} {column} {self.edits[row]}")


class Paints(QObject):
    """The rectangles of a viewport that were painted."""

    def __init__(self, view: FlatTable) -> None:
        super().__init__()
        self.of: list[tuple[int, int]] = []
        view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            rect = event.rect()
            self.of.append((rect.width(), rect.height()))
        return False


def shown(qtbot: QtBot, model: CellModel) -> tuple[FlatTable, Paints]:
    table = FlatTable(lambda: DARK, model, "words", (100, 100, 100), 1)
    qtbot.addWidget(table)
    table.resize(400, 160)
    table.show()
    rest()
    return table, Paints(table)


def rest() -> None:
    for _ in range(10):
        QApplication.processEvents()


def test_other_widths_are_painted_once(qtbot: QtBot) -> None:
    """And the column between takes what is left at once."""
    table, paints = shown(qtbot, Words())
    table.fit_columns({0: 120, 2: 60})
    assert [table.columnWidth(column) for column in range(3)] == [120, 220, 60]
    rest()
    assert paints.of == [(400, 160 - table.column_header.height())]
    assert [table.columnWidth(column) for column in range(3)] == [120, 220, 60]
    table.fit_columns({0: 120, 2: 60})
    rest()
    assert len(paints.of) == 1, "as they are already"


def test_of_what_changed_the_row_is_painted_that_says_something_else(qtbot: QtBot) -> None:
    model = Words()
    _, paints = shown(qtbot, model)
    model.changed()
    rest()
    assert paints.of == []
    model.edits[1] += 1
    model.changed()
    model.changed()
    rest()
    assert paints.of
    assert all(height <= 24 for _, height in paints.of)
