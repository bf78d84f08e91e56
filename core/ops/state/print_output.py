"""Where the text goes that operations print: to standard error, or to whoever runs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Print = Callable[[str], None]


def to_stderr(text: str) -> None:
    """Where printed text goes when nobody asked for it: never into a command's results."""
    sys.stderr.write(text)


def nowhere(text: str) -> None:
    """For text that nobody is to read."""


_output: ContextVar[Print] = ContextVar("output", default=to_stderr)


def where_text_goes() -> Print:
    """What printed text is given to, here and now."""
    return _output.get()


def say(text: str) -> None:
    """Print `text`, line ends included."""
    where_text_goes()(text)


@contextmanager
def printing_to(output: Print) -> Iterator[None]:
    """Inside, what operations print goes to `output`."""
    token = _output.set(output)
    try:
        yield
    finally:
        _output.reset(token)
