"""Calls that other threads make in the main thread, without ever holding anything of Qt's.

Whatever a thread refers to last is taken down in that thread. A widget taken down beside the main
thread, perhaps while that walks over all widgets, ends the program. So a thread gets a number, and
what the number stands for stays here.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from weakref import WeakValueDictionary

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

_posted: queue.SimpleQueue[tuple[Callable[..., None], tuple[Any, ...]]] = queue.SimpleQueue()
_numbers = itertools.count()
_keepers: WeakValueDictionary[int, ThreadCalls] = WeakValueDictionary()


class ThreadCalls(QObject):
    """Keeps calls for other threads, for as long as its parent lives. To be used in the main
    thread; what `keep` returns, in any."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._number = next(_numbers)
        self._calls: dict[int, tuple[Callable[..., None], bool]] = {}
        _keepers[self._number] = self
        _waker()

    def keep(self, call: Callable[..., None], once: bool = False) -> Callable[..., None]:
        """What another thread calls in the place of `call`, which is made in the main thread, soon,
        and in the order in which all threads asked. once: it does so once at most."""
        ticket = next(_numbers)
        self._calls[ticket] = call, once
        return partial(call_soon, _call_kept, self._number, ticket)

    def forget(self) -> None:
        """Make none of the calls that are kept any more."""
        self._calls.clear()

    def _call(self, ticket: int, arguments: tuple[Any, ...]) -> None:
        call, once = self._calls.get(ticket, (None, False))
        if once:
            del self._calls[ticket]
        if call is not None:
            call(*arguments)


def call_soon(call: Callable[..., None], *arguments: object) -> None:
    """From any thread: make the call in the main thread. It must refer to nothing of Qt's."""
    _posted.put((call, arguments))
    with contextlib.suppress(RuntimeError):  # the program ends
        _waker().posted.emit()


def _call_kept(keeper: int, ticket: int, *arguments: object) -> None:
    there = _keepers.get(keeper)
    if there is not None and isValid(there):
        there._call(ticket, arguments)


class _Waker(QObject):
    """Lives as long as the program: a thread may call it at any time. One signal, one call: what
    one raises keeps no other from being made."""

    posted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.posted.connect(self._make, Qt.ConnectionType.QueuedConnection)

    def _make(self) -> None:
        call, arguments = _posted.get()
        call(*arguments)


@cache
def _waker() -> _Waker:
    return _Waker()
