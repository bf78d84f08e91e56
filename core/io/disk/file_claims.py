"""Files that belong to a living process: the system itself lets go of them when it dies."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def claim(handle: int) -> bool:
        """Whether the open file is this process's alone now, until the file is closed."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import errno
    import fcntl

    _TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)

    def claim(handle: int) -> bool:
        """Whether the open file is this process's alone now, until the file is closed. On a file
        system without locks it always is."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in _TAKEN
        return True


class Claim:
    """A lock file that this process holds. A number in a file tells too little: another process may
    bear it by now."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle

    @classmethod
    def take(cls, path: Path) -> Claim | None:
        """None where another holds it, in this process or elsewhere. Raises OSError."""
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if claim(handle) and _is_at(handle, path):
            return cls(path, handle)
        os.close(handle)
        return None

    def release(self) -> None:
        """Give it up, and remove it."""
        if self._handle >= 0:
            with contextlib.suppress(OSError):
                self.path.unlink()
            os.close(self._handle)
            self._handle = -1


def _is_at(handle: int, path: Path) -> bool:
    """Whether the path still leads to the open file: its last owner may have just removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False
