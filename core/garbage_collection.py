"""Python's garbage collector: paused while much is made that stays, and otherwise not too often."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = 50_000  # objects made and not let go of; Python's own number is 700


def collect_rarely() -> None:
    """For a process that holds large programs. Of each edit a few large tables are young, and who
    looks for garbage among these looks at all that they hold: a tenth of what an edit takes."""
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])


@contextmanager
def collector_paused() -> Iterator[None]:
    """For making very many objects that stay: the collector would go through all of them again and
    again, for a third of the time, and find nothing. Also a decorator."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
