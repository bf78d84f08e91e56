"""A line on a terminal that says how far a command is, and is gone once it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gradstep.core.progress import progress_to

_EVERY = 0.2  # seconds


@contextmanager
def progress_line() -> Iterator[None]:
    """Inside, what tells its progress is shown on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    told, shown = time.monotonic(), 0

    def tell(text: str, done: int, total: int) -> None:
        nonlocal told, shown
        now = time.monotonic()
        if now - told > _EVERY:
            line = f"{text}: {done:,} of {total:,}"
            sys.stderr.write(f"\r{line:<{shown}}")
            sys.stderr.flush()
            told, shown = now, max(shown, len(line))

    try:
        with progress_to(tell):
            yield
    finally:
        if shown:
            sys.stderr.write(f"\r{'':<{shown}}\r")
            sys.stderr.flush()
