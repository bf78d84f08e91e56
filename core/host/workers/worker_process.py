"""One process of a pool, as the pool sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any

from gradstep.core.errors import GradstepError
from gradstep.core.host.process.exit_sentence import how_it_ended
from gradstep.core.host.process.process_tree import ProcessTree
from gradstep.core.host.workers.worker_messages import (
    Answer,
    Begin,
    Done,
    News,
    NotDone,
    Stop,
    Work,
)
from gradstep.core.program.sandbox.sandbox_environment import kept
from gradstep.core.protocol import framing
from gradstep.core.protocol.error_records import error_of
from gradstep.core.protocol.message_base import Message

LOST = "WorkerLost"  # kind of the error of a process that ended in the middle
COMMAND = (sys.executable, "-P", "-m", "gradstep.main", "engine", "--stdio", "--worker")
_DYING = 5.0  # seconds that a process gets to be gone, once it has been killed
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class WorkerProcess:
    """Started, and ready to be asked. threads: that a BLAS library may take, where the user's
    environment does not say. Raises GradstepError (WorkerLost) where it cannot be started."""

    def __init__(self, begin: Begin, threads: int) -> None:
        own = kept(os.environ) if begin.confined else dict(os.environ)
        few = {name: str(threads) for name in _THREADS}
        try:
            self._process = _spawn(few | own)
        except OSError as error:
            raise lost(f"it could not be started: {error.strerror}") from None
        self._tree = ProcessTree(self._process)
        self._lock = threading.Lock()
        self._tell(begin)

    @property
    def pid(self) -> int:
        return self._process.pid

    def do(self, work: Work, tell: Callable[[dict[str, Any]], None]) -> Any:
        """What it gave. tell: what it reports meanwhile. Raises GradstepError: what it raised, or
        WorkerLost where the process is no more."""
        self._tell(work)
        while True:
            answer = self._next()
            if isinstance(answer, News):
                tell(answer.what)
            elif isinstance(answer, Done):
                return answer.result
            else:
                raise error_of(answer.error)

    def stop(self) -> None:
        """Ask it to end what it does; from any thread."""
        self._tell(Stop())

    def kill(self) -> None:
        """End it at once, with all that it started; from any thread."""
        with suppress(OSError):
            self._process.kill()
        self._tree.sweep()

    def close(self) -> None:
        """End it, and wait until it is gone."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                _there(pipe).close()

    def _tell(self, message: Message) -> None:
        with self._lock, suppress(OSError, ValueError):  # it has ended: that is seen by its answers
            framing.write(_there(self._process.stdin), message)

    def _next(self) -> News | Done | NotDone:
        try:
            packet = framing.read_one_of(_there(self._process.stdout), Answer)
        except (GradstepError, ValueError, OSError):
            packet = None  # cut off, or nonsense
        if packet is None:
            self.close()
            raise lost(how_it_ended(self._process.returncode))
        answer: News | Done | NotDone = packet.message
        return answer


def _spawn(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        COMMAND, stdin=pipe, stdout=pipe, env=environment, start_new_session=True
    )


def lost(how: str) -> GradstepError:
    """The error of a process that is no more."""
    return GradstepError(
        f"the process that did it ended ({how})",
        kind=LOST,
        hint="it may take more memory than there is: use fewer --workers, or smaller tensors",
    )


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # both were asked for
    return pipe
