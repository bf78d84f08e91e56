"""Ctrl+C while something is under way that can end in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

from gradstep.core.errors import Interrupted


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl+C raises Interrupted, which no code of the document's can be mistaken for."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    signal.signal(signal.SIGINT, _break_off)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _break_off(*_: object) -> NoReturn:
    raise Interrupted


@contextlib.contextmanager
def on_interrupt(end: Callable[[], None]) -> Iterator[None]:
    """Ctrl+C calls `end`; once more breaks off what is under way."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only that one is told of it
        return

    def pressed(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        end()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
