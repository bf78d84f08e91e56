"""A file that somebody named, to be read: regular files alone, and no more of them than they have.

A pipe may never answer, a device never end, and a file may grow under the reader's hands.
"""

from __future__ import annotations

import os
import stat
from types import TracebackType
from typing import IO, Self

from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(
    os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)  # fmt: skip
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class RegularFile:
    """An open file, to be read at any place and closed. name: as it was given; size: in bytes, as
    it was when it was opened."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises OSError, ValueError for what is no path, or no regular file."""
        self.name = os.fspath(path)
        _check(os.stat(path).st_mode)  # so that a device is not even opened
        handle = os.open(path, _FLAGS)
        try:
            status = os.fstat(handle)
            _check(status.st_mode)
        except BaseException:
            os.close(handle)
            raise
        self.size = status.st_size
        self._file: IO[bytes] = os.fdopen(handle, "rb", buffering=0)

    def at(self, place: int, count: int) -> bytes:
        """`count` bytes from `place` on, fewer at the end. Raises OSError."""
        self._file.seek(place)
        return self._exactly(count)

    def from_(self, place: int) -> IO[bytes]:
        """The file from `place` on, to be read as far as this is open. Raises OSError."""
        self._file.seek(place)
        return self._file

    def read(self, budget: Budget) -> bytes:
        """All of it. Raises OSError, ValueError where it is not as long as it was said to be, and
        OverBudgetError."""
        try:
            budget.take(self.size, "its bytes")
        except OverBudgetError as error:
            raise error.inside(self.name) from None
        data = self.at(0, self.size + 1)
        if len(data) != self.size:
            more = "more" if len(data) > self.size else "less"
            raise ValueError(
                f"it holds {more} than the {self.size} bytes that it should: it is being written, "
                "or no ordinary file"
            )
        return data

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _exactly(self, count: int) -> bytes:
        """As many as there are of `count`: a read may give fewer."""
        first = self._file.read(count) or b""
        if len(first) == count or not first:
            return first
        parts, left = [first], count - len(first)
        while left and (part := self._file.read(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _check(mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = next((name for is_kind, name in _KINDS if is_kind(mode)), "no regular file")
        raise ValueError(f"it is {what}")
