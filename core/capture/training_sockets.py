"""Where trainings listen that can be followed: in folders that only their user can open.

There lies a socket, or a door: a file with a port of this machine, and the password for it.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gradstep.core.errors import GradstepError

_NAME = re.compile(r"(\d+)(-\d+)?\.(sock|door)")


def socket_folders() -> list[Path]:
    """Where the exporter's `watch` puts its sockets: a training that was started elsewhere (by
    cron, over ssh) may know no folder of this session's, and has the other one."""
    if not hasattr(os, "geteuid"):
        local = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
        return [Path(local) / "gradstep" / "watch"]
    found = [Path(tempfile.gettempdir()) / f"gradstep-watch-{os.geteuid()}"]
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or ".")
    return [runtime / "gradstep" / "watch", *found] if runtime.is_absolute() else found


def training_sockets() -> list[Path]:
    """The sockets and doors that there are, of dead processes as well: who finds that nobody
    answers removes them. Raises GradstepError for a folder that is not the user's own or is open to
    others."""
    return [path for folder in socket_folders() for path in _sockets_in(folder)]


def pid_of(path: Path) -> int:
    """The process that a socket is named for; 0 for another file."""
    named = _NAME.fullmatch(path.name)
    return int(named[1]) if named else 0


def remove_stale(path: Path) -> None:
    """Remove the socket of a process that is dead."""
    if pid_of(path) and path.parent in socket_folders():
        with suppress(OSError):
            path.unlink()


def _sockets_in(folder: Path) -> Iterator[Path]:
    try:
        _require_private(folder)
        found = sorted(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise GradstepError(f"{folder} cannot be read: {error.strerror}", kind="OSError") from error
    yield from (path for path in found if pid_of(path) and (path.is_socket() or is_door(path)))


def is_door(path: Path) -> bool:
    """Whether it is a file that tells of a port."""
    return path.suffix == ".door" and path.is_file() and not path.is_symlink()


def _require_private(folder: Path) -> None:
    if not hasattr(os, "geteuid"):
        folder.lstat()  # in the user's profile, which is closed to others
        return
    found = folder.lstat()
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if own and not found.st_mode & 0o077:
        return
    raise GradstepError(
        f"{folder} is {'open to others' if own else 'not a folder of your own'}, so who listens "
        "there may be somebody else",
        kind="PermissionError",
        hint=f"remove it, or close it: chmod 700 {folder}" if own else "have its owner remove it",
    )
