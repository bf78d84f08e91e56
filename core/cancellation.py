"""Giving up work that is under way: whoever starts it says how that is asked for, loops look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancelled(BaseException):
    """The work is not wanted any more. No Exception, as asyncio's CancelledError: nobody who mends
    errors, or tells of them, is to catch it on its way to whoever started the work."""


def _never() -> bool:
    return False


_wanted: ContextVar[Callable[[], bool]] = ContextVar("cancelled", default=_never)


@contextmanager
def cancelled_when(asked: Callable[[], bool]) -> Iterator[None]:
    """Inside, work ends with Cancelled soon after `asked()` has become true."""
    token = _wanted.set(asked)
    try:
        yield
    finally:
        _wanted.reset(token)


def check_cancelled() -> None:
    """Called wherever work can go on for long: before each iteration of a loop, each run, each
    round. Raises Cancelled."""
    if _wanted.get()():
        raise Cancelled
