"""Python's garbage collector: paused while much is made that stays, and otherwise not too often."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_SELDOM = 250_000  # objects made and not let go of; Python's own number is 700
_SHARE = 8  # or as many as one of so many blocks of memory that there are
_FEW = 1_000_000  # blocks of memory of a process whose objects are looked at in some 20 ms


def collect_rarely() -> None:
    """For a process that holds large programs. Of each edit a few large tables are young, and who
    looks for garbage among these looks at all that they hold: a tenth of what an edit takes, and a
    second where the program is large. So the more there is, the more is made before that."""
    _put_off()
    if _put_off_again not in gc.callbacks:
        gc.callbacks.append(_put_off_again)


def _put_off_again(phase: str, info: Mapping[str, int]) -> None:
    """Before each collection, and after it."""
    if phase == "stop":
        _put_off()


def _put_off() -> None:
    seldom = max(_SELDOM, sys.getallocatedblocks() // _SHARE)
    gc.set_threshold(seldom, *gc.get_threshold()[1:])


def keep_what_is_loaded() -> None:
    """Leave modules and all else that is there out of every collection: it stays."""
    gc.freeze()


def collect_if_little() -> None:
    """Look for garbage now, in a process that holds little. Where one small program comes after the
    other, those before would stay until there are many, and what outlives them would lie scattered
    over all the memory that they took, which then cannot be given back."""
    if sys.getallocatedblocks() < _FEW:
        gc.collect()


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
