"""A folder outside of which nothing is written, whatever a text that is tried says."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

# Events of Python's audit hooks, with which of their arguments are paths that are written to.
_WRITTEN = {
    "os.mkdir": (0,), "os.rmdir": (0,), "os.remove": (0,), "os.truncate": (0,), "os.rename": (0, 1),
    "os.link": (1,), "os.symlink": (1,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,),
    "os.setxattr": (0,), "os.removexattr": (0,), "shutil.rmtree": (0,),
}  # fmt: skip
_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_only: list[Path] = []  # the folders that are entered, the innermost last


@contextmanager
def own_folder() -> Iterator[None]:
    """Stand in a folder that goes at the end. What would write outside of it, in this process,
    raises PermissionError instead: odd names lead to where they were never meant to, and a user
    who may write everything would lose what is there."""
    _install()
    with (
        tempfile.TemporaryDirectory() as name,
        chdir(name),
        patch.object(tempfile, "tempdir", name),
    ):
        _only.append(Path(name).resolve())
        try:
            yield
        finally:
            _only.pop()


@cache
def _install() -> None:
    """Once: a hook cannot be taken out again."""
    sys.addaudithook(_look)


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if not _only:
        return
    if event == "open":
        path, _, flags = arguments
        paths = [path] if flags & _TO_WRITE else []
    else:
        paths = [arguments[place] for place in _WRITTEN.get(event, ())]
    for path in paths:
        if not isinstance(path, int) and not _is_inside(os.fsdecode(path)):
            raise PermissionError(errno.EACCES, "outside of the folder of this case", str(path))


def _is_inside(path: str) -> bool:
    """Whether it leads into the folder, links and all, or to where nothing is kept."""
    return path == os.devnull or Path(os.path.realpath(path)).is_relative_to(_only[-1])
