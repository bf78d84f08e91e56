"""Views that are scrolled: what was there is moved, and looks as if all had been painted anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QMargins, QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QAbstractItemView, QApplication, QStyledItemDelegate, QTreeView
from pytestqt.qtbot import QtBot

from gradstep.gui.look import theme
from gradstep.gui.look.theme import DARK, LIGHT
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.flat_table import CellDelegate, FlatTable
from gradstep.gui.panels.widgets.row_list import Row
from gradstep.gui.panels.widgets.row_view import RowDelegate, RowTree
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

MANY, IN_VIEW = 60, 10


class Numbers(CellModel):
    headers = ("number",)

    def count(self) -> int:
        return MANY

    def cell(self, row: int, column: int) -> Cell:
        return Cell(str(row))


class Emulated(CellModel):
    headers = ("a", "b")

    def count(self) -> int:
        return MANY

    def cell(self, row: int, column: int) -> Cell:
        return Cell(str(row), fill="hatched")


def tree(look: theme.Theme) -> QAbstractItemView:
    view = RowTree(lambda: look)
    view.set_rows([Row(str(n), f"row {n}") for n in range(MANY)])
    return view


def table(look: theme.Theme) -> QAbstractItemView:
    return FlatTable(lambda: look, Numbers(), "numbers", (200,))


def on_screen(view: QAbstractItemView) -> QImage:
    """What a user sees of it, as it was put together from what was painted."""
    image: QImage = view.screen().grabWindow(view.winId()).toImage()
    assert not image.isNull()
    return image


@pytest.mark.parametrize("look", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize(
    ("make", "delegate"), [(tree, RowDelegate), (table, CellDelegate)], ids=["tree", "table"]
)
def test_scrolling_by_a_row_paints_a_row(
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    look: theme.Theme,
    make: Callable[[theme.Theme], QAbstractItemView],
    delegate: type[QStyledItemDelegate],
) -> None:
    theme.apply(QApplication.instance(), look)
    painted: list[int] = []
    paint = delegate.paint

    def noted(self: object, painter: object, option: object, index: object) -> None:
        painted.append(index.row())  # type: ignore[attr-defined]
        paint(self, painter, option, index)  # type: ignore[arg-type]

    monkeypatch.setattr(delegate, "paint", noted)
    view = make(look)
    qtbot.addWidget(view)
    view.resize(240, IN_VIEW * 24)
    view.show()
    qtbot.wait(50)
    painted.clear()
    for _ in range(3):
        view.verticalScrollBar().setValue(
            view.verticalScrollBar().value() + view.verticalScrollBar().singleStep()
        )
        QApplication.processEvents()
    assert 3 <= len(painted) <= 3 * 3, painted
    moved = on_screen(view)
    view.viewport().update()
    QApplication.processEvents()
    assert moved == on_screen(view)
    theme.apply(QApplication.instance(), DARK)


def hatched_table() -> QAbstractItemView:
    return FlatTable(lambda: DARK, Emulated(), "emulated", (200, 200))


def hatched_tree() -> QAbstractItemView:
    view = QTreeView()
    view.setItemDelegate(CellDelegate(lambda: DARK))
    view.setModel(Emulated())
    view.setColumnWidth(0, 200)
    view.header().setStretchLastSection(False)
    view.setColumnWidth(1, 200)
    return view


@pytest.mark.parametrize("make", [hatched_table, hatched_tree], ids=["table", "tree"])
def test_hatching_is_moved_with_what_it_is_behind(
    qtbot: QtBot, make: Callable[[], QAbstractItemView]
) -> None:
    theme.apply(QApplication.instance(), DARK)
    view = make()
    qtbot.addWidget(view)
    view.resize(240, IN_VIEW * 24)
    view.show()
    qtbot.wait(50)
    size = view.viewport().rect().marginsRemoved(QMargins(0, 0, 55, 0)).size()
    here = view.viewport().grab().toImage()
    for across in (3, 10, 55):
        view.horizontalScrollBar().setValue(across)
        QApplication.processEvents()
        moved = on_screen(view)
        view.viewport().update()
        QApplication.processEvents()
        assert moved == on_screen(view)
        there = view.viewport().grab().toImage()
        assert there.copy(QRect(QPoint(), size)) == here.copy(QRect(QPoint(across, 0), size))


@pytest.mark.parametrize("ratio", [1, 2])
def test_hatching_is_moved_as_far_as_its_origin(qtbot: QtBot, ratio: int) -> None:
    def hatched(origin: QPoint) -> QImage:
        image = QImage(60 * ratio, 40 * ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(DARK.panel)
        painter = QPainter(image)
        panel_marks.hatch(painter, QRect(0, 0, 60, 40), DARK, origin)
        painter.end()
        return image

    here, there, size = hatched(QPoint(0, 0)), hatched(QPoint(1, 2)), (50 * ratio, 30 * ratio)
    assert here != there
    assert there.copy(ratio, 2 * ratio, *size) == here.copy(0, 0, *size)


class Wide(CellModel):
    headers = ("what", "first", "second")

    def count(self) -> int:
        return MANY

    def cell(self, row: int, column: int) -> Cell:
        return Cell(str(row))


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
def test_the_corner_between_two_scroll_bars_is_empty(
    qtbot: QtBot, qapp: QApplication, look: theme.Theme
) -> None:
    theme.apply(qapp, look)
    view = FlatTable(lambda: look, Wide(), "wide", (300, 300, 300))
    qtbot.addWidget(view)
    view.resize(300, 120)
    view.show()
    image = view.grab().toImage()
    corner = QRect(0, 0, view.verticalScrollBar().width(), view.horizontalScrollBar().height())
    corner.moveBottomRight(view.rect().bottomRight())
    points = [(x, y) for x in range(corner.x(), 300) for y in range(corner.y(), 120)]
    assert len(points) == 100
    assert {image.pixelColor(*point).name() for point in points} == {look.panel.name()}


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
def test_the_corner_between_two_headers_is_empty(
    qtbot: QtBot, qapp: QApplication, look: theme.Theme
) -> None:
    theme.apply(qapp, look)
    view = FlatTable(lambda: look, Wide(), "wide", (300, 300, 300))
    qtbot.addWidget(view)
    view.verticalHeader().show()
    view.resize(300, 120)
    view.show()
    image = view.grab().toImage()
    corner = QRect(0, 0, view.verticalHeader().width(), view.horizontalHeader().height())
    points = [(x, y) for x in range(corner.width()) for y in range(corner.height())]
    assert len(points) > 100
    assert {image.pixelColor(*point).name() for point in points} == {look.panel.name()}


@pytest.mark.parametrize(
    ("width", "widths"), [(500, [100, 200, 200]), (901, [100, 400, 400]), (300, [100, 150, 150])]
)
def test_columns_share_what_the_others_leave(qtbot: QtBot, width: int, widths: list[int]) -> None:
    view = FlatTable(lambda: DARK, Wide(), "wide", (100,))
    qtbot.addWidget(view)
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.share_rest((1, 2), 150)
    view.resize(width, 120)
    view.show()
    assert [view.columnWidth(column) for column in range(3)] == widths
    assert view.horizontalScrollBar().isVisible() is (sum(widths) > width)
