"""The system asks the program to end: unsaved work is left for the next start, with no question."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from PySide6.QtCore import SIGNAL, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gradstep.gui.frame import open_windows
from gradstep.gui.frame.system_shutdown import Ending


@pytest.fixture
def ends(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """What was done, in order: "keep", then the exit status."""
    done: list[object] = []
    monkeypatch.setattr(open_windows, "keep_all", lambda: done.append("keep"))
    # The tests may be run by nohup, or in a shell's background, where SIGINT is ignored.
    before = {s: signal.signal(s, signal.SIG_DFL) for s in (signal.SIGHUP, signal.SIGINT)}
    ending = Ending(qapp)
    monkeypatch.setattr(ending, "_leave", done.append)
    yield done
    ending.remove()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_it_in_order(ends: list[object], name: str) -> None:
    """Also while a dialog's own event loop runs."""
    number = getattr(signal, name)
    loop = QEventLoop()
    QTimer.singleShot(0, lambda: os.kill(os.getpid(), number))
    QTimer.singleShot(10_000, loop.quit)  # a busy machine
    done = QTimer(interval=5)
    done.timeout.connect(lambda: loop.quit() if len(ends) > 1 else None)
    done.start()
    loop.exec()
    done.stop()
    assert ends == ["keep", 128 + number]


def test_what_was_ignored_stays_so(qapp: QApplication) -> None:
    """As nohup leaves it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    ending = Ending(qapp)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    ending.remove()
    signal.signal(signal.SIGHUP, before)


def test_afterwards_signals_are_as_before(qapp: QApplication) -> None:
    before = [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    Ending(qapp).remove()
    assert before == [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]


def test_the_end_of_the_session_and_of_qt_keep_what_is_unsaved(
    qapp: QApplication, ends: list[object]
) -> None:
    """The desktop's requests come with a session manager, which no test can make."""
    qapp.aboutToQuit.emit()
    assert ends == ["keep"]
    for name in ("commitDataRequest(QSessionManager&)", "saveStateRequest(QSessionManager&)"):
        assert qapp.receivers(SIGNAL(name)) == 1
