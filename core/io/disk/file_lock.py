"""A lock between processes: who reads a file to write it again lets nobody write in between."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.file_claims import claim

PATIENCE = 5.0  # seconds
_PAUSE = 0.01  # seconds between two attempts


@contextmanager
def lock_file(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock file `path`, which is made where there is none and stays, against every other
    process and every other thread. The system takes the lock from a process that ends, however it
    ends: there are no stale ones. Raises GradstepError (FileError) when others held it for
    `patience` seconds, or there can be no such file."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _cannot(path, error.strerror or str(error), f"make {path.parent} writable") from None
    try:
        _wait_for(handle, path, patience)
        yield
    finally:
        os.close(handle)  # and the lock with it


def _wait_for(handle: int, path: Path, patience: float) -> None:
    until = time.monotonic() + patience
    while not claim(handle):
        if time.monotonic() >= until:
            raise _cannot(path, "another window or command holds it", "try again")
        time.sleep(_PAUSE)


def _cannot(path: Path, why: str, hint: str) -> GradstepError:
    return GradstepError(f"cannot lock {path}: {why}", kind="FileError", hint=hint)
