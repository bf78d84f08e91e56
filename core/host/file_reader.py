"""Reading a file in a process of its own, as the window sees it: one that can be ended at any time.

What it answers is a message of records and raw arrays, decoded within limits, and never unpickled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.host.document_message import DocumentSent, unpack
from gradstep.core.host.file_worker import Answer, ReadFile
from gradstep.core.host.process.exit_sentence import how_it_ended
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget, OverBudgetError
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.protocol import framing
from gradstep.core.protocol.error_records import error_of

SECONDS = 300  # that a file may take; a graph of 100,000 nodes takes about ten
_DYING = 2.0  # seconds that the process has to end by itself, once it says no more
ROOT = Path(__file__).resolve().parents[2]
# What of the environment it needs to start; nobody's keys and addresses are among it.
_ENVIRONMENT = (
    "PATH", "SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "TMPDIR",
)  # fmt: skip
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each maps memory of its own


class FileReader:
    """A process that reads one file; it is there, with all it needs, before it is asked.

    Raises GradstepError (ReaderDied) when it cannot be started.
    """

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gradstep.core.host.file_worker"],
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env=environment | _ONE_THREAD,
            )
        except OSError as error:
            raise _died("", f"it could not be started: {error.strerror}") from None
        self._seconds: float = SECONDS
        self._late = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def read(
        self, path: Path, limit: int = DEFAULT, seconds: float = SECONDS
    ) -> tuple[Document, Inference]:
        """The document at `path`, and the types of its graph as it is fed. Waits for it, `seconds`
        at most; to be called once. limit: see Budget.

        Raises GradstepError: what gradstep.core.io.open_document.read raises;
        DeadlineExceededError; ReaderDied where the process ended, by `kill` or by what the file
        made it do.
        """
        self._seconds = seconds
        clock = threading.Timer(seconds, self._give_up)
        clock.start()
        try:
            answer = self._ask(ReadFile(path=str(path), limit=limit, seconds=int(seconds) + 1))
        finally:
            clock.cancel()
            self.close()
        return found_in(answer.message, answer.buffers, limit)

    def kill(self) -> None:
        """End it at once, whatever it does; from any thread."""
        self._process.kill()

    def close(self) -> None:
        """End it, and wait until it is gone."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _ask(self, request: ReadFile) -> framing.Packet:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None  # both were asked for
        name = request.path
        packet = None
        try:
            with suppress(OSError):  # it has ended: its answer does not come either
                framing.write(process.stdin, request, request=1)
            packet = framing.read_one_of(process.stdout, Answer, 2 * request.limit)
        except GradstepError:
            pass  # cut off, or no answer at all
        if packet is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_DYING)
            self.close()
            if self._late:
                raise _too_long(name, self._seconds)
            raise _died(name, how_it_ended(process.returncode))
        return packet

    def _give_up(self) -> None:
        self._late = True
        self.kill()


def found_in(
    answer: Answer, buffers: Sequence[framing.Buffer], limit: int
) -> tuple[Document, Inference]:
    """What the process found. Raises GradstepError: what it says; ProtocolError for nonsense."""
    if isinstance(answer, DocumentSent):
        return unpack(answer, buffers, Budget(2 * limit))
    error = error_of(answer.error)
    if answer.needed:
        raise OverBudgetError(error.message, answer.needed, answer.what, error.hint)
    raise error


def _too_long(name: str, seconds: float) -> GradstepError:
    return GradstepError(
        f"cannot open {name}: reading it took more than {seconds:g} seconds",
        kind="DeadlineExceededError",
        hint="`gradstep check` has no such limit, on the command line",
    )


def _died(name: str, how: str) -> GradstepError:
    return GradstepError(
        f"cannot open {name}: the process that reads files ended ({how})",
        kind="ReaderDied",
        hint="the file may be damaged, or made to do this; nothing else was touched",
    )
