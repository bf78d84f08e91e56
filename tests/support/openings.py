"""Whether a file was opened, by anybody in any way: the kernel's word for it."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_NONBLOCK, _OPEN = 0o4000, 0x20  # IN_NONBLOCK, IN_OPEN of <sys/inotify.h>


class Openings:
    """Of one file on Linux, from now on."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle: int = libc.inotify_init1(_NONBLOCK)
        watch: int = libc.inotify_add_watch(self._handle, os.fsencode(path), _OPEN)
        if min(self._handle, watch) < 0:
            raise OSError(ctypes.get_errno(), "inotify is not there")

    def any(self) -> bool:
        """Whether it was opened since this was last asked."""
        try:
            return bool(os.read(self._handle, 4096))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._handle)
