"""What a file held when it was last read or written: to notice that somebody else changed it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from gradstep.core.errors import GradstepError

_PIECE = 1 << 20


@dataclass(frozen=True)
class OnDisk:
    """digest: SHA-256 (hex) of the bytes; "" for no file. stamp: what a write changes in the file's
    status, and so does replacing it."""

    digest: str
    stamp: tuple[int, ...] = field(default=(), compare=False)

    @property
    def is_there(self) -> bool:
        return bool(self.digest)


class FileChangedError(GradstepError):
    """The file does not hold what was last read from it or written to it. found: what it holds."""

    def __init__(self, path: str, found: OnDisk) -> None:
        what = "was changed by another program" if found.is_there else "was deleted or moved"
        super().__init__(
            f"{path} {what} since it was read; nothing was written",
            kind="FileChangedError",
            hint="save under another name, or open it anew",
        )
        self.found = found


def look(path: str | os.PathLike[str], known: OnDisk | None = None) -> OnDisk:
    """What is at `path`: no file for what cannot be read as one. Costs a look at the file's status
    where that is as it was when `known` was found. Whoever reads a document looks first: a change
    in between is then noticed once too often, and never missed."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return OnDisk("")
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return OnDisk("")
        stamp = _stamp(status)
        if known is not None and known.stamp == stamp:
            return known
        digest = hashlib.sha256()
        while piece := file.read(_PIECE):
            digest.update(piece)
    return OnDisk(digest.hexdigest(), stamp)


def of_bytes(path: str | os.PathLike[str], data: bytes) -> OnDisk:
    """What is at `path` after `data` was written to it."""
    try:
        return OnDisk(hashlib.sha256(data).hexdigest(), _stamp(os.stat(path)))
    except OSError:
        return OnDisk(hashlib.sha256(data).hexdigest())


def check_unchanged(path: str | os.PathLike[str], expected: OnDisk | None) -> Callable[[], None]:
    """A check for replace_file: raises FileChangedError unless the file holds what is expected;
    None: whatever it holds."""

    def check() -> None:
        if expected is not None and (found := look(path)) != expected:
            raise FileChangedError(os.fspath(path), found)

    return check


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
    )
