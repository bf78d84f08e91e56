"""Work whose result the caller needs before it goes on, while the window goes on being painted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer, Signal

R = TypeVar("R")
BLINK = 0.05  # seconds in which most of it is done, and nothing need be painted
NOTICED = 100  # milliseconds after which it is said what is waited for


class _Done(QObject):
    happened = Signal()


def wait_for(work: Callable[[], R], late: Callable[[], None] = lambda: None) -> R:
    """What `work` returns, from a thread of its own; it must touch no Qt object. What it raises is
    raised here. Meanwhile nothing is taken from the user; late: called once when it takes long.
    """
    result: list[Any] = []
    failure: list[BaseException] = []
    done = _Done()

    def body() -> None:
        try:
            result.append(work())
        except BaseException as error:  # handed on to who waits
            failure.append(error)
        done.happened.emit()

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(BLINK)
    if thread.is_alive():
        _turn(thread, done, late)
    thread.join()
    if failure:
        raise failure[0]
    found: R = result[0]
    return found


def _turn(thread: threading.Thread, done: _Done, late: Callable[[], None]) -> None:
    loop = QEventLoop()
    done.happened.connect(loop.quit, Qt.ConnectionType.QueuedConnection)
    timer = QTimer(singleShot=True, interval=NOTICED)
    timer.timeout.connect(late)
    timer.start()
    watch = QTimer(interval=NOTICED)  # it may have been over before the loop began
    watch.timeout.connect(lambda: None if thread.is_alive() else loop.quit())
    watch.start()
    loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
    timer.stop()
    watch.stop()
