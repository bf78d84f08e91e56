"""A user of the real window: a mouse and a keyboard on what is seen, and eyes to read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QTableView,
    QTabBar,
    QWidget,
)

from gui.canvas import hit, speech
from gui.driver import Driver
from gui.panels.cells import CellRole

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
PICTURES = "GRADSTEP_PICTURES"  # the folder that the stories' pictures go to, where it is set


class User(Driver):
    """Finds a control by its object name, and uses it only where it is visible and enabled."""

    # -- widgets ---------------------------------------------------------------------------------

    def find(self, name: str) -> QWidget:
        """The visible control of this name, scrolled into view."""
        for top in (*reversed(QApplication.topLevelWidgets()), self.window):
            for widget in (top, *top.findChildren(QWidget, name)):
                if widget.objectName() == name and widget.isVisible():
                    _scroll_to(widget)
                    return widget
        raise AssertionError(f"no '{name}' is to be seen")

    def sees(self, name: str) -> bool:
        """Whether a control of this name is visible."""
        return any(
            widget.isVisible()
            for top in QApplication.topLevelWidgets()
            for widget in (top, *top.findChildren(QWidget))
            if widget.objectName() == name
        )

    def click(self, name: str) -> None:
        widget = self.find(name)
        assert widget.isEnabled(), f"'{name}' is greyed out"
        at = widget.visibleRegion().boundingRect().center()
        assert widget.rect().contains(at), f"'{name}' is covered"
        QTest.mouseClick(widget, LEFT, NONE, at)
        self.settle()

    def type_into(self, name: str, text: str) -> None:
        """Replace what a field says, key by key; Enter takes over the text of a line."""
        field = self.find(name)
        QTest.mouseClick(field, LEFT, NONE, field.rect().center())
        QTest.keySequence(field, "Ctrl+A")
        if isinstance(field, QPlainTextEdit):
            _type_code(field, text)
        else:
            QTest.keyClicks(field, text)
            QTest.keyClick(field, Qt.Key.Key_Return)
        self.settle()

    def text(self, name: str) -> str:
        """What a label, a button or a field says."""
        widget = self.find(name)
        return widget.toPlainText() if isinstance(widget, QPlainTextEdit) else widget.text()

    def table(self, name: str) -> list[list[str]]:
        """The texts of a table, row by row."""
        view = self.find(name)
        assert isinstance(view, QTableView)
        model = view.model()
        rows, columns = range(model.rowCount()), range(model.columnCount())
        return [[model.index(r, c).data(CellRole).text for c in columns] for r in rows]

    def show_tab(self, title: str) -> None:
        """Bring a panel to the front by a click on its tab."""
        for bar in self.window.findChildren(QTabBar):
            for index in range(bar.count()):
                if bar.isVisible() and bar.tabText(index).startswith(title):
                    QTest.mouseClick(bar, LEFT, NONE, bar.tabRect(index).center())
                    self.settle()
                    return
        raise AssertionError(f"no tab '{title}'")

    # -- menus, and dialogs that wait ------------------------------------------------------------

    def menu(self, title: str, *path: str) -> None:
        """Choose an entry of the menu bar."""
        bar = self.window.menuBar()
        entry = next(a for a in bar.actions() if a.text() == title)
        QTest.mouseClick(bar, LEFT, NONE, bar.actionGeometry(entry).center())
        self.pick(*path)

    def pick(self, *path: str) -> None:
        """Choose an entry of the menu that is open, through its submenus."""
        for title in path:
            self.wait(lambda title=title: self._entry(title) is not None, f"the entry '{title}'")
            found = self._entry(title)
            assert found is not None
            menu, action = found
            assert action.isEnabled(), f"'{title}' is greyed out"
            QTest.mouseMove(menu, menu.actionGeometry(action).center())
            QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())
        self.settle()

    def _entry(self, title: str):
        menu = QApplication.activePopupWidget()
        if not isinstance(menu, QMenu):
            return None
        shown = (a for a in menu.actions() if a.text().partition("\t")[0] == title)
        return next(((menu, action) for action in shown), None)

    def answer(self, what: Callable[[QDialog], None]) -> None:
        """Do this to the next dialog that waits for its answer: those hold up whoever opens it."""
        watch = QTimer(self.window, interval=20)

        def look() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, QDialog) and dialog.isVisible():
                watch.stop()
                what(dialog)

        watch.timeout.connect(look)
        watch.start()

    def name_file(self, path: Path) -> None:
        """Answer the next file dialog with a path, and Enter."""

        def typed(dialog: QDialog) -> None:
            field = dialog.findChild(QLineEdit, "fileNameEdit")
            field.clear()
            QTest.keyClicks(field, str(path))
            QTest.keyClick(field, Qt.Key.Key_Return)

        self.answer(typed)

    # -- the canvas ------------------------------------------------------------------------------

    @property
    def canvas(self):
        return self.window.canvas

    def node(self, name: str) -> QPoint:
        """The middle of a node's title row, in pixels of the canvas."""
        x, y, width, _ = self.canvas.arrays.rects[self._number(name)].tolist()
        return self._pixel((x + width / 2, y + 10))

    def output(self, name: str, index: int = 0) -> QPoint:
        return self._port(name, index, is_output=True)

    def input(self, name: str, index: int = 0) -> QPoint:
        return self._port(name, index, is_output=False)

    def wire(self, source: str, target: str) -> QPoint:
        """A point on the wire between two nodes that no other wire is nearer to."""
        arrays = self.canvas.arrays
        link = arrays.visible.ends.tolist().index([self._number(source), self._number(target)])
        scale = self.canvas.camera.scale
        line = arrays.points[link]
        order = sorted(range(len(line)), key=lambda i: abs(i - len(line) // 2))
        return self._pixel(
            next(tuple(line[i]) for i in order if hit.at(arrays, line[i], scale).link == link)
        )

    def click_canvas(self, at: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseClick(self.canvas.viewport(), LEFT, modifiers, at)
        self.settle()

    def select(self, *names: str) -> None:
        """Click nodes, all but the first with Shift."""
        for number, name in enumerate(names):
            self.click_canvas(self.node(name), Qt.KeyboardModifier.ShiftModifier if number else NONE)

    def drag(self, start: QPoint, end: QPoint) -> None:
        """Press, move in small steps, release."""
        port = self.canvas.viewport()
        QTest.mousePress(port, LEFT, NONE, start)
        for share in (0.1, 0.4, 0.7, 0.95, 1.0):
            QTest.mouseMove(port, start + (end - start) * share)
        QTest.mouseRelease(port, LEFT, NONE, end)
        self.settle()

    def search(self, text: str) -> None:
        """Type into the menu that finds an operation, and take what it finds."""
        field = self.find("search_menu_field")
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        self.settle()

    def says(self, name: str) -> str:
        """What a node shows, in one sentence: as a screen reader gets it."""
        return speech.describe(self.canvas.stage, self._number(name))

    def edge_color(self, name: str) -> QColor:
        """The colour of a node's outline on the screen: the commonest just inside its left edge."""
        x, y, _, height = self.canvas.arrays.rects[self._number(name)].tolist()
        at = self._pixel((x, y + height - 12))
        return self.color(at)

    def color(self, at: QPoint) -> QColor:
        """The colour of a pixel of the canvas."""
        image = self.canvas.viewport().grab().toImage()
        ratio = image.devicePixelRatio()
        return image.pixelColor(round(at.x() * ratio), round(at.y() * ratio))

    def shows_color(self, around: QPoint, color: QColor, reach: int = 6) -> bool:
        """Whether some pixel near a point has this colour, or nearly."""
        image = self.canvas.viewport().grab().toImage()
        wanted = np.array(color.getRgb()[:3])
        for x in range(-reach, reach + 1):
            for y in range(-reach, reach + 1):
                found = image.pixelColor(around + QPoint(x, y)).getRgb()[:3]
                if np.abs(np.array(found) - wanted).max() <= 12:
                    return True
        return False

    def _number(self, name: str) -> int:
        return self.canvas.arrays.visible.number[name]

    def _pixel(self, point: tuple[float, float]) -> QPoint:
        return self.canvas.mapFromScene(QPointF(*point))

    def _port(self, name: str, index: int, is_output: bool) -> QPoint:
        port = hit.Port(self._number(name), index, is_output)
        return self._pixel(hit.port_point(self.canvas.arrays, port))

    # -- what is known ---------------------------------------------------------------------------

    def value(self, ref: str) -> np.ndarray | None:
        """The whole value, or None while there is none."""
        return self._array(self.workspace.value(ref))

    def gradient(self, ref: str) -> np.ndarray | None:
        return self._array(self.workspace.gradient(ref))

    def _array(self, found) -> np.ndarray | None:
        return None if found is None or found.state != "known" else found.array

    # -- pictures --------------------------------------------------------------------------------

    def take_picture(self, name: str) -> None:
        """Keep what the window shows now, where pictures are wanted."""
        if folder := os.environ.get(PICTURES):
            self.picture(Path(folder) / f"{name}.png")


def _type_code(editor: QPlainTextEdit, text: str) -> None:
    """Type lines into an editor that indents by itself."""
    for line in text.rstrip("\n").splitlines():
        QTest.keySequence(editor, "Shift+Home")
        QTest.keyClicks(editor, line)
        QTest.keyClick(editor, Qt.Key.Key_Return)


def _scroll_to(widget: QWidget) -> None:
    """As the wheel would, until all of it is visible."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            QApplication.processEvents()
            parent.ensureWidgetVisible(widget)
        parent = parent.parentWidget()


def press(button: QAbstractButton) -> None:
    """Click a button of a dialog that is not ours."""
    QTest.mouseClick(button, LEFT)
