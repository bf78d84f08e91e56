"""Using the controls of the real window: find, click, type, choose, answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence, QRegion, QTextDocumentFragment, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QTabBar,
    QTableView,
    QWidget,
)

from gradstep.gui.automation.driver import Driver
from gradstep.gui.panels.widgets.table_cells import CellRole

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


class Controls(Driver):
    """Finds a control by its object name, and uses it only where it is visible and enabled."""

    # -- widgets ---------------------------------------------------------------------------------

    def find(self, name: str) -> QWidget:
        """The control of this name, scrolled into view."""
        for widget in _named(name):
            _scroll_to(widget)
            if _is_seen(widget):
                return widget
        raise AssertionError(f"no '{name}' is to be seen")

    def sees(self, name: str) -> bool:
        """Whether a control of this name is to be seen."""
        return any(_is_seen(widget) for widget in _named(name))

    def press(self, keys: str) -> None:
        """Press keys, and do not wait for the engine."""
        if QApplication.activePopupWidget() is None:
            self.bring_forward(QApplication.activeModalWidget() or self.window)
        QTest.keySequence(QApplication.focusWidget() or self.window, QKeySequence(keys))

    def key(self, keys: str) -> None:
        self.press(keys)
        self.settle()

    def click(self, name: str) -> None:
        self.click_now(name)
        self.settle()

    def click_now(self, name: str) -> None:
        """Click, and do not wait for the engine."""
        widget = self.find(name)
        assert widget.isEnabled(), f"'{name}' is greyed out"
        self.click_at(widget, _seen_part(widget).boundingRect().center())

    def type_into(self, name: str, text: str) -> None:
        """Replace what a field says, key by key, and leave a line by Tab."""
        field = self.find(name)
        self.click_at(field, field.rect().center())
        assert field.hasFocus(), f"'{name}' does not take the focus"
        QTest.keySequence(field, "Ctrl+A")
        if isinstance(field, QPlainTextEdit):
            _type_code(field, text)
        else:
            QTest.keyClicks(field, text)
            QTest.keyClick(field, Qt.Key.Key_Tab)
        self.settle()

    def text(self, name: str) -> str:
        """What a label, a button or a field says."""
        widget = self.find(name)
        if isinstance(widget, QPlainTextEdit):
            return widget.toPlainText()
        if isinstance(widget, QLabel) and widget.textFormat() is Qt.TextFormat.RichText:
            return QTextDocumentFragment.fromHtml(widget.text()).toPlainText()
        return widget.text()

    def table(self, name: str) -> list[list[str]]:
        """The texts of a table, row by row."""
        view = self.find(name)
        assert isinstance(view, QTableView)
        model = view.model()
        rows, columns = range(model.rowCount()), range(model.columnCount())
        return [[model.index(r, c).data(CellRole).text for c in columns] for r in rows]

    def headers(self, name: str) -> list[str]:
        """The titles of a table's columns."""
        view = self.find(name)
        assert isinstance(view, QTableView)
        across, model = Qt.Orientation.Horizontal, view.model()
        return [model.headerData(column, across) for column in range(model.columnCount())]

    def click_row(self, name: str, row: int) -> None:
        """Click the second cell of a table's row, scrolled into view."""
        view = self.find(name)
        assert isinstance(view, QTableView)
        cell = view.model().index(row, 1)
        view.scrollTo(cell)
        self.click_at(view.viewport(), view.visualRect(cell).center())
        self.settle()

    def show_tab(self, title: str) -> None:
        """Bring a panel to the front by a click on its tab."""
        for bar in self.window.findChildren(QTabBar):
            for index in range(bar.count()):
                if _is_seen(bar) and bar.tabText(index).startswith(title):
                    self.click_at(bar, bar.tabRect(index).center())
                    self.settle()
                    return
        raise AssertionError(f"no tab '{title}'")

    def click_at(
        self,
        widget: QWidget,
        at: QPoint,
        modifiers: Qt.KeyboardModifier = NONE,
        button: Qt.MouseButton = LEFT,
    ) -> None:
        """Click a point of a widget, by way of its window: as the window system would say it, so
        that modal dialogs, open menus and what lies over the widget have their say."""
        self.bring_forward(widget.window())
        hit = QApplication.widgetAt(widget.mapToGlobal(at))
        assert hit is widget or widget.isAncestorOf(hit), f"{hit} lies over {widget.objectName()}"
        window, offset = in_window(widget)
        QTest.mouseMove(window, offset + at)
        QTest.mouseClick(window, button, modifiers, offset + at)

    def bring_forward(self, top: QWidget) -> None:
        """What a window manager does before a click; a bare X server has none."""
        if top.windowType() is not Qt.WindowType.Popup and not top.isActiveWindow():
            top.activateWindow()
            self.wait(top.isActiveWindow, "the window to become active")

    # -- menus, and dialogs that wait ------------------------------------------------------------

    def menu(self, title: str, *path: str) -> None:
        """Choose an entry of the menu bar."""
        bar = self.window.menuBar()
        entry = next(a for a in bar.actions() if a.text() == title)
        self.click_at(bar, bar.actionGeometry(entry).center())
        self.pick(*path)

    def pick(self, *path: str) -> None:
        """Choose an entry of the menu that is open, by its text or name, through its submenus."""
        for title in path:
            self.wait(lambda title=title: self._entry(title) is not None, f"the entry '{title}'")
            found = self._entry(title)
            assert found is not None
            menu, action = found
            assert action.isEnabled(), f"'{title}' is greyed out"
            self.click_at(menu, menu.actionGeometry(action).center())
        self.settle()

    def _entry(self, title: str) -> tuple[QMenu, QAction] | None:
        menu = QApplication.activePopupWidget()
        if not isinstance(menu, QMenu):
            return None
        named = ((a, {a.objectName(), a.text().partition("\t")[0]}) for a in menu.actions())
        return next(((menu, action) for action, names in named if title in names), None)

    def answer(self, what: Callable[[QDialog], None]) -> None:
        """Do this to the next dialog that waits for its answer: those hold up whoever opens it."""
        watch = QTimer(self.window, interval=20)

        def look() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, QDialog) and dialog.isVisible():
                watch.stop()
                try:
                    what(dialog)
                    assert not dialog.isVisible(), f"'{dialog.windowTitle()}' is not answered"
                except BaseException:
                    dialog.reject()  # else whoever opened it waits for ever
                    raise

        watch.timeout.connect(look)
        watch.start()

    def name_file(self, path: Path) -> None:
        """Answer the next file dialog with a path."""

        def typed(dialog: QDialog) -> None:
            field = dialog.findChild(QLineEdit, "fileNameEdit")
            accept = dialog.findChild(QDialogButtonBox).buttons()[0]

            def is_taken() -> bool:
                """Qt reads the folder in a thread, and judges a name only when it is typed."""
                field.clear()
                QTest.keyClicks(field, str(path))
                return accept.isEnabled()

            self.click_at(field, field.rect().center())  # a field without the focus is Qt's to fill
            self.wait(is_taken, f"{path} to be taken")
            QTest.keyClick(field, Qt.Key.Key_Return)  # a click would close the list of completions

        self.answer(typed)


def _type_code(editor: QPlainTextEdit, text: str) -> None:
    """Type lines into an editor that indents by itself."""
    for number, line in enumerate(text.rstrip("\n").splitlines()):
        if number:
            QTest.keyClick(editor, Qt.Key.Key_Return)
            QTest.keySequence(editor, "Shift+Home")
        QTest.keyClicks(editor, line)


def _named(name: str) -> list[QWidget]:
    """The controls of this name in all windows, dialogs and popups first."""
    tops = sorted(QApplication.topLevelWidgets(), key=lambda top: isinstance(top, QMainWindow))
    found = (widget for top in tops for widget in (top, *top.findChildren(QWidget, name)))
    return [widget for widget in found if widget.objectName() == name and widget.isVisible()]


def _is_seen(widget: QWidget) -> bool:
    """Docks behind others are visible to Qt, but nothing of them is."""
    return widget.isVisible() and not _seen_part(widget).isEmpty()


def _seen_part(widget: QWidget) -> QRegion:
    """What of it is on the screen. Below a viewport that fills its ground nothing is."""
    found = widget.visibleRegion()
    if isinstance(widget, QAbstractScrollArea):
        viewport = widget.viewport()
        found = found.united(viewport.visibleRegion().translated(viewport.pos()))
    return found


def _scroll_to(widget: QWidget) -> None:
    """As the wheel would, until all of it is visible."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            QApplication.processEvents()
            parent.ensureWidgetVisible(widget)
        parent = parent.parentWidget()


def in_window(widget: QWidget) -> tuple[QWindow, QPoint]:
    """The window that a widget is in, and where in it."""
    top = widget.window()
    return top.windowHandle(), widget.mapTo(top, QPoint())
