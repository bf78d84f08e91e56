"""`gradstep sweep` as a process of the window's: started, asked to end, gone with the window."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_GRACE = 15.0  # seconds that it gets to end its workers, and itself
_COMMAND = (sys.executable, "-P", "-m", "gradstep.main", "sweep", "--end-with-input", "--json")


class SweepProcess:
    """It ends when its standard input does: by `stop`, or with this process. words: arguments.
    Raises OSError where it cannot be started."""

    def __init__(self, words: Sequence[str]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._answer = tempfile.TemporaryFile()  # noqa: SIM115
        self._clock: threading.Timer | None = None
        self._process = subprocess.Popen(
            [*_COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=self._answer,
            stderr=self._said,
            start_new_session=True,
        )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Ask it to end, and end it where it does not."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._clock = threading.Timer(_GRACE, self._process.kill)
        self._clock.daemon = True
        self._clock.start()

    def close(self) -> None:
        """It has ended, and what it said was read."""
        if self._clock is not None:
            self._clock.cancel()
        for file in (self._said, self._answer, self._process.stdin):
            if file is not None:
                with suppress(OSError):
                    file.close()

    def answer(self) -> bytes:
        """The one object that it printed; b"" for none."""
        return _all(self._answer)

    def last_words(self) -> str:
        """The last line that it wrote on standard error."""
        lines = _all(self._said).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _all(file: object) -> bytes:
    file.seek(0)  # type: ignore[attr-defined]
    data: bytes = file.read()  # type: ignore[attr-defined]
    return data


def free_folder(parent: Path, name: str) -> Path:
    """A folder in `parent` that is not there yet."""
    found, number = parent / name, 1
    while found.exists():
        number += 1
        found = parent / f"{name}-{number}"
    return found
