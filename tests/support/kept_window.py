"""One window for tests that follow each other, made anew where it is no longer as new.

A window takes as long to make as most tests take with it. So a test gets that of the test before it
again, with another document or on the start page, once what can be seen of it and what its models
were told is as it was when it was new (`_state`). Where anything differs, the test gets a new one.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QTabBar,
    QWidget,
)
from shiboken6 import isValid

from gradstep.core.errors import GradstepError
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.window_placement import WANTED
from gradstep.gui.look import theme
from gradstep.gui.model.settings import settings
from tests.support.deleting import delete

Facts = Mapping[str, object]

_MANY = 8
_NOWHERE = QPoint(10, 10)  # on the menu bar, where it is at first
_gone = itertools.count(1)
_kept: list[MainWindow] = []


def kept_windows() -> list[MainWindow]:
    """Those that the next test may get."""
    return [window for window in _kept if isValid(window)]


class WindowKeeper:
    """Holds a window from one test to the next."""

    def __init__(self, make: Callable[[], MainWindow]) -> None:
        self._make = make
        self._window: MainWindow | None = None
        self._new: dict[Path | None, Facts] = {}  # what it shows -> how it was when it was new
        self._lasting: Facts = {}  # how it was whatever it shows

    def take(self, shown: Path | None = None) -> Driver:
        """A window that shows a file, or the start page; the mouse is where no test has left it,
        which new windows would find it as well."""
        QCursor.setPos(_NOWHERE)
        if self._window is not None and _lasting(self._window) == self._lasting:
            with suppress(GradstepError):  # it does not answer
                driver = _turn(self._window, shown)
                state = _state(self._window)
                new = self._new.setdefault(shown, state)
                if state["layout"] != new["layout"]:
                    self._window.reset_layout()
                    driver.settle()
                    state = _state(self._window)
                if state == new:
                    return driver
        return self._take_new(shown)

    def _take_new(self, shown: Path | None) -> Driver:
        self.drop()
        self._window = self._make()
        _kept.append(self._window)
        driver = Driver(self._window)
        driver.settle()
        if shown is not None:
            driver.open(shown)
        self._new = {shown: _state(self._window)}
        self._lasting = _lasting(self._window)
        return driver

    def give_back(self) -> None:
        """A test is done with it: its work is given up while its files are still there."""
        window = self._window
        if window is None or not isValid(window) or not window.isVisible():
            self.drop()
            return
        _close_others(window)
        window.workspace.give_up_changes()
        window.workspace.file_changed.emit()
        window.autosave.save_now()

    def drop(self) -> None:
        """Take it away."""
        window, self._window, self._new = self._window, None, {}
        if window is None:
            return
        _kept.remove(window)
        if isValid(window):
            window.discard()
            delete(window)
            settings().clear()  # where it left its layout for the next
        if next(_gone) % _MANY == 0:
            gc.collect()  # each keeps 20 MiB until then


def _close_others(window: MainWindow) -> None:
    for top in QApplication.topLevelWidgets():
        if top is not window and top.isVisible():
            top.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _turn(window: MainWindow, shown: Path | None) -> Driver:
    """The window with a file, or on the start page with no layout to come back to."""
    driver, space = Driver(window), window.workspace
    window.setWindowState(Qt.WindowState.WindowNoState)
    window.resize(WANTED)
    if space.theme is not theme.DARK:
        space.set_theme(theme.DARK)
    if shown is None:
        space.close_document()
        window.reset_layout()
        driver.settle()
    else:
        driver.open(shown)
    window.status.remark("")
    return driver


# -- what may not differ ---------------------------------------------------------------------------

# What tells of the document before, on the start page.
_LATE = {"ScrollLeftButton", "ScrollRightButton", "status.zoom"}
_MEMOS = {  # of what was shown, and what was asked of it
    "workspace.name", "workspace.on_disk", "workspace.sweep", "workspace.bridge._replies",
    "workspace.edited_document._last",
    "workspace.sessions.found", "workspace.data._asked", "workspace.gradient_states._bad",
    "workspace._waits", "workspace.profiler.progress", "workspace.training._asked_of",
    "workspace.gradient_states._held", "workspace.gradient_states._place",
    "workspace.debugger._index", "workspace.debugger._permission", "workspace.debugger._tensors",
    "workspace.debugger._values", "workspace.debugger.notations", "workspace.lints._asked",
}  # fmt: skip


def _lasting(window: MainWindow) -> Facts:
    """What does not go with the document. (Else what a window shows for the first time would be
    taken for new however it was left.)"""
    if not isValid(window):
        return {}
    space = window.workspace
    return {
        "device": space.device,
        "machine": space.bridge.machine,
        "is_dead": space.engine_state == "dead",
    }


def _state(window: MainWindow) -> Facts:
    frame = {
        "size": (window.size(), window.windowState()),
        "title": window.windowTitle(),
        "layout": window.docks.current_layout(),
        "dialogs": [type(dialog).__name__ for dialog in window.findChildren(QDialog)],
    }
    return {**frame, **_looks(window), **_choices("workspace", window.workspace, set())}


def _looks(widget: QWidget) -> Facts:
    """What can be seen of the named widgets in one, by name; panels are left out."""
    found: dict[str, object] = {}
    for each in widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        name = each.objectName()
        if each.isHidden():
            continue
        if name and name not in _LATE:
            found[name] = each.isEnabled(), _said(each)
        if type(each).__name__ != "_Frame":
            found |= _looks(each)
    return found


def _said(widget: QWidget) -> object:
    if isinstance(widget, QLabel | QLineEdit):
        return widget.text()
    if isinstance(widget, QAbstractButton):
        return widget.text(), widget.isChecked()
    if isinstance(widget, QComboBox | QTabBar | QStackedWidget):
        return widget.currentIndex()
    return widget.windowTitle()


def _choices(name: str, model: object, seen: set[int]) -> Facts:
    """What a model and those that it holds were told: words, yes and no, and how much of it."""
    if name in _MEMOS or id(model) in seen:
        return {}
    if isinstance(model, bool | str):
        return {name: model}
    if isinstance(model, list | tuple | dict | set | frozenset):
        return {name: len(model)}
    if not type(model).__module__.startswith("gradstep.gui.model"):
        return {}
    seen.add(id(model))
    found: dict[str, object] = {}
    for key, value in vars(model).items():
        found |= _choices(f"{name}.{key}", value, seen)
    return found
