"""Telling how far work is that is under way: whoever starts it says to whom, loops tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[str, int, int], None]  # what is done, how much of it, and of how much


def _nobody(text: str, done: int, total: int) -> None:
    pass


_listener: ContextVar[Tell] = ContextVar("progress", default=_nobody)


@contextmanager
def progress_to(tell: Tell) -> Iterator[None]:
    """Inside, loops that can go on for long tell `tell` how far they are, as often as they like;
    and whoever is told outside is told as well."""
    outer = _listener.get()

    def tell_both(text: str, done: int, total: int) -> None:
        tell(text, done, total)
        outer(text, done, total)

    token = _listener.set(tell_both)
    try:
        yield
    finally:
        _listener.reset(token)


def tell_progress(text: str, done: int, total: int) -> None:
    """So many of `total` are done of what `text` says; a total of 0 is one that nobody knows."""
    _listener.get()(text, done, total)
