"""Replacing a file's contents at once, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from core.errors import GradstepError


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Make `data` the contents of `path`. The old contents stay until the new ones are on disk;
    the file's mode is kept, and a symbolic link keeps pointing at the file that changes.

    Raises GradstepError (FileError); the old file is then as it was.
    """
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except OSError as error:
        _discard(temporary)
        raise _failed(path, error) from None
    except BaseException:
        _discard(temporary)
        raise
    _sync_folder(target.parent)


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _discard(temporary: str) -> None:
    if temporary:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where folders can be synced at all."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _failed(path: str | os.PathLike[str], error: OSError) -> GradstepError:
    reasons = {
        PermissionError: ("the folder or file is read-only", "save under another name"),
        FileNotFoundError: ("the folder does not exist", "make the folder, or save elsewhere"),
        NotADirectoryError: ("a part of the path is not a folder", "save elsewhere"),
        IsADirectoryError: ("it is a folder", "give a file name"),
    }
    reason, hint = reasons.get(
        type(error), (error.strerror or type(error).__name__, "free some space, or save elsewhere")
    )
    return GradstepError(
        f"cannot write {os.fspath(path)}: {reason}; nothing was changed",
        kind="FileError",
        hint=hint,
    )
