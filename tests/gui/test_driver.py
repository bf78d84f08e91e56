"""Whoever drives the window waits for what is under way, and for nothing else."""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtCore import QTimer

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
