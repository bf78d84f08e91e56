"""Whoever drives the window waits for what is under way, and for nothing else."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from gradstep.gui.automation import driver as driving
from gradstep.gui.automation.driver import Driver
from gradstep.gui.model.background_work import Background


@pytest.mark.slow
def test_what_is_computed_beside_the_main_thread_is_there(
    tutorial: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "SETTLED", 30.0)  # for a busy machine
    found: list[int] = []

    def work() -> int:
        time.sleep(0.1)
        return 1

    Background(tutorial.window).run(work, found.append, lambda error: None)
    tutorial.settle()
    assert found == [1]


@pytest.mark.slow
def test_what_a_timer_does_soon_is_done(tutorial: Driver) -> None:
    done: list[int] = []
    timer = QTimer(tutorial.window, singleShot=True, interval=round(800 * driving.SETTLED))
    timer.timeout.connect(lambda: done.append(1))
    timer.start()
    tutorial.settle()
    timer.deleteLater()
    assert done == [1]


@pytest.mark.slow
def test_work_that_goes_on_and_later_timers_are_not_waited_for(tutorial: Driver) -> None:
    over = threading.Event()
    Background(tutorial.window).run(over.wait, lambda _: None, lambda error: None)
    late = QTimer(tutorial.window, singleShot=True, interval=1_000_000)
    late.start()
    tutorial.settle()
    assert not over.is_set()
    assert late.isActive()
    over.set()
    tutorial.settle()
    late.deleteLater()


@pytest.mark.slow
def test_a_picture_shows_nothing_that_is_not_needed_any_more(
    tutorial: Driver, tmp_path: Path
) -> None:
    patch = QWidget(tutorial.window)
    patch.setAutoFillBackground(True)
    patch.setStyleSheet("background: #ff00ff")
    patch.resize(tutorial.window.size())
    patch.show()
    tutorial.settle()
    patch.deleteLater()
    tutorial.settle()
    tutorial.picture(tmp_path / "now.png")
    assert QImage(str(tmp_path / "now.png")).pixelColor(9, 9).name() != "#ff00ff"
