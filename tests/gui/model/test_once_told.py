"""What several signals say is shown once: when all is told, and before the window is painted."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from gradstep.gui.model.once_told import BeforePaint, OnceTold


class Telling(QObject):
    """A debugger that says things."""

    told = Signal()
    is_telling = False


class Painted(QWidget):
    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log

    def paintEvent(self, event: QPaintEvent) -> None:
        self.log.append("paint")


def test_what_is_told_by_parts_is_shown_once(qapp: QApplication) -> None:
    shown: list[str] = []
    debugger, parent = Telling(), QObject()
    told: Any = OnceTold(debugger, lambda: shown.append("all"), parent)  # type: ignore[arg-type]
    told.hear()
    assert shown == ["all"], "nothing is being told"
    debugger.is_telling = True
    told.hear("program")
    told.hear("stop")
    assert shown == ["all"]
    debugger.is_telling = False
    debugger.told.emit()
    debugger.told.emit()
    assert shown == ["all", "all"]


def test_what_is_shown_before_the_paint_needs_no_other(qtbot: Any) -> None:
    """A timer of no time comes after it."""
    log: list[str] = []
    window = Painted(log)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: bool(log))
    QApplication.processEvents()
    log.clear()

    def show(what: str) -> None:
        log.append(what)
        window.update()

    timer = QTimer(window, singleShot=True, interval=0)
    timer.timeout.connect(lambda: show("timer"))
    soon = BeforePaint(lambda: show("soon"), window)
    window.update()
    timer.start()
    soon.start()
    soon.start()
    for _ in range(4):
        QApplication.processEvents()
    assert log[:2] == ["soon", "paint"]
    assert log.count("soon") == 1
    assert log[2:] == ["timer", "paint"]


def test_what_was_stopped_does_not_come(qapp: QApplication) -> None:
    calls: list[int] = []
    parent = QObject()
    soon = BeforePaint(lambda: calls.append(1), parent)
    soon.start()
    soon.stop()
    QApplication.processEvents()
    assert not calls
    soon.start()
    soon.stop()
    soon.start()
    QApplication.processEvents()
    assert calls == [1]
