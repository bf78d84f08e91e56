"""A started process with all that it starts: ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradstep.core.host.process.windows_job import Job

_PATIENCE = 1.0  # seconds that a process gets to end what it started, and itself


def _job_of(process: subprocess.Popen[bytes]) -> Job:
    from gradstep.core.host.process.windows_job import Job

    return Job(process)


class ProcessTree:
    """A process that was started in a session of its own.

    An engine has a supervisor in front (gradstep.core.host.process.supervisor), which ends
    everything when it gets SIGTERM, as ssh ends a connection. Whatever does not heed that is
    killed a moment later, with its process group. On Windows a job object holds the process and
    its descendants, and the system ends them when the last handle to it is closed: by us, or by
    our end.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._job = _job_of(process) if os.name == "nt" else None

    def end(self) -> None:
        """End all of it at once, without waiting for that."""
        if self._job is not None:
            self._job.terminate()
        elif self._process.poll() is None:
            self._process.terminate()
            timer = threading.Timer(_PATIENCE, self._kill)
            timer.daemon = True
            timer.start()

    def sweep(self) -> None:
        """The process has ended: end what is left of its group."""
        if self._job is not None:
            self._job.terminate()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
