"""The process between window and engine: when either ends, so does all that the engine started.

It reads nothing, runs no code of the user's and waits only. So it is told of the window's end
whatever the engine does: both ends of the engine's pipes are closed then. On Linux it adopts what
the engine's children leave behind (PR_SET_CHILD_SUBREAPER), sessions of their own included, and the
engine ends with it (PR_SET_PDEATHSIG); elsewhere it ends the engine's process group. Code that runs
with the user's rights may kill it first, or ask another service to start something: nothing here
keeps it from that.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from gradstep.core.program.sandbox import linux_calls

GRACE = 2.0  # seconds that work in progress gets to end when no more requests can come
_REST = 1.0  # seconds after which an engine that does not end by itself is ended
_IDLE = 60.0


def supervise(temporary: Path | None = None) -> None:
    """Go on in a child of this process: only the child returns from here. This one watches it, and
    ends as the child ended, after all that the child started, and `temporary` with what is in it.
    To be called before there are threads; where there is no fork it does nothing."""
    if sys.platform == "win32":
        return
    woken = _wake_by_signals()
    if linux_calls.IS_LINUX:
        linux_calls.prctl(linux_calls.PR_SET_CHILD_SUBREAPER, 1)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _begin(parent, woken)
        return
    status = _Watch(child, woken).until_ended()
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)
    _end_as(status)


if sys.platform != "win32":  # what follows does not exist there
    _SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP)

    class _Watch:
        """Waits until the engine has ended, or is to be ended; then ends all that is left."""

        def __init__(self, child: int, woken: int) -> None:
            self._child = child
            self._woken = woken
            self._status: int | None = None
            self._poll = select.poll()
            self._poll.register(woken, select.POLLIN)
            self._open = {0, 1}
            for pipe in self._open:
                self._poll.register(pipe, getattr(select, "POLLRDHUP", 0))

        def until_ended(self) -> int:
            """The engine's status, as os.wait gives it, once nothing of it is left."""
            deadline = time.monotonic() + 1e9
            while self._status is None and time.monotonic() < deadline:
                wait = max(0.0, min(deadline - time.monotonic(), _IDLE))  # below 0 is for ever
                for descriptor, _ in self._poll.poll(1000 * wait):
                    if descriptor == self._woken:
                        if self._is_told_to_end():
                            deadline = 0
                    else:
                        self._poll.unregister(descriptor)
                        self._open.discard(descriptor)
                        rest = GRACE + _REST if self._open else 0
                        deadline = min(deadline, time.monotonic() + rest)
                self._collect(os.WNOHANG)
            self._end_all()
            assert self._status is not None  # nothing is left, so neither is the engine
            return self._status

        def _is_told_to_end(self) -> bool:
            return any(number != signal.SIGCHLD for number in os.read(self._woken, 4096))

        def _end_all(self) -> None:
            """Kill what there is, generation after generation: orphans become our children."""
            while True:
                for pid in self._children():
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                if not self._collect(0):
                    return

        def _children(self) -> Iterator[int]:
            if linux_calls.IS_LINUX:
                yield from children_of(os.getpid())
            elif self._status is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._child, signal.SIGKILL)

        def _collect(self, options: int) -> bool:
            """Whether there may be children still; those that have ended are taken notice of."""
            while True:
                try:
                    pid, status = os.waitpid(-1, options)
                except ChildProcessError:
                    return False
                if pid == self._child:
                    self._status = status
                if pid == 0:
                    return True
                options = os.WNOHANG

    def _begin(parent: int, woken: int) -> None:
        """What the engine does first, to be a process like any other."""
        os.close(signal.set_wakeup_fd(-1))
        os.close(woken)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        if linux_calls.IS_LINUX:
            linux_calls.prctl(linux_calls.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it ended before it was asked to say so
                os._exit(0)
        else:
            os.setpgid(0, 0)

    def _wake_by_signals() -> int:
        """The descriptor that gets the number of each signal."""
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        ignore: Callable[..., None] = lambda *_: None  # noqa: E731 - SIG_IGN would wake nobody
        for number in _SIGNALS:
            signal.signal(number, ignore)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the window; its end ends us
        return woken

    def _end_as(status: int) -> None:
        """End with the exit status or by the signal that the engine ended with."""
        if os.WIFSIGNALED(status):
            import resource

            number = os.WTERMSIG(status)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core is enough
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def children_of(parent: int) -> list[int]:
    """Its children, by what /proc says of every process."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError):
                stat = Path(entry.path, "stat").read_text(errors="replace")
                if int(stat.rpartition(")")[2].split()[1]) == parent:
                    found.append(int(entry.name))
    return found
