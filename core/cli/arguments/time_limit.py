"""`--timeout SECONDS`: an end to what takes too long, whatever it is doing."""

from __future__ import annotations

import _thread
import contextlib
import faulthandler
import signal
import sys
import threading
from collections.abc import Iterator

from gradstep.core.errors import GradstepError

STATUS = 124  # exit status, as the command `timeout` has it
_GRACE = 3.0  # seconds between two ways of ending it, each ruder than the one before


class TimeLimit:
    """is_over: whether the time was up before the work was done. seconds: None for no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.is_over = False

    @property
    def error(self) -> GradstepError:
        return GradstepError(
            f"it was not done after {self.seconds:g} s, as long as --timeout allows",
            kind="DeadlineExceededError",
            hint="give it more time, or less to do",
        )


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[TimeLimit]:
    """When the time is up, what is inside is interrupted as by Ctrl+C, which may end it in order;
    then again, which breaks it off. Where that does not help either, as Python's interpreter is
    not reached any more, the process ends, with a traceback that says where it was."""
    limit, done = TimeLimit(seconds), threading.Event()
    if seconds is None:
        yield limit
        return

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            limit.is_over, wait = True, _GRACE
            _interrupt()

    if sys.__stderr__ is not None:
        faulthandler.dump_traceback_later(seconds + 4 * _GRACE, exit=True, file=sys.__stderr__)
    threading.Thread(target=watch, name="timeout", daemon=True).start()
    try:
        with _heeding_interrupts(limit):
            yield limit
    except KeyboardInterrupt:
        if not limit.is_over:
            raise
        raise limit.error from None
    finally:
        done.set()
        faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def _heeding_interrupts(limit: TimeLimit) -> Iterator[None]:
    """Also where they are ignored, as by what a script's shell runs in the background: those that
    the limit makes, and no others."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return

    def heed(number: int, frame: object) -> None:
        if limit.is_over:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, heed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt() -> None:
    """As Ctrl+C does it, which ends a sleep as well."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
