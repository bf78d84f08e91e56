"""Replacing a file's contents at once, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import IO

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk import in_place_write
from gradstep.core.io.disk.file_attributes import take_over
from gradstep.core.io.disk.file_claims import claim

_SUFFIX = ".gradstep-part"
_PART = re.compile(r"\..*\.[0-9a-f]{16}\.gradstep-part", re.DOTALL)
_SPECIAL = {
    stat.S_IFIFO: "it is a named pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
}
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)  # a folder in which no file may be made
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class NotAFileError(OSError):
    """What a path leads to has no contents to be replaced."""


def replace_file(
    path: str | os.PathLike[str], data: bytes, check: Callable[[], None] = lambda: None
) -> None:
    """Make `data` the contents of `path`. The old contents stay until the new ones are on disk;
    mode, owner, group, extended attributes and hard links are kept, and a symbolic link keeps
    pointing at the file that changes.

    check: called when all is ready, right before the old contents go; what it raises stops it.

    A file that another one in its place would not equal in these, or whose folder takes no new
    file, is written in place, with the new contents on disk elsewhere until that is done (see
    gradstep.core.io.disk.in_place_write). Raises GradstepError (FileError); the old file is then
    as it was.
    """
    _replace(path, lambda handle: _fill(handle, data), lambda: data, check)


def write_file(path: str | os.PathLike[str], write: Callable[[IO[bytes]], None]) -> None:
    """The same with contents that `write` puts into a stream, and that need not fit in memory but
    where the file has to be written in place. What `write` raises leaves the old file as it was."""

    def fill(handle: int) -> None:
        with os.fdopen(os.dup(handle), "wb") as stream:
            write(stream)
        os.fsync(handle)

    def whole() -> bytes:
        stream = BytesIO()
        write(stream)
        return stream.getvalue()

    _replace(path, fill, whole, lambda: None)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raise GradstepError (FileError) where `replace_file` would be refused now, for who has hours
    of work to do before there is something to write. Nothing is changed."""
    try:
        target = Path(os.path.realpath(path))
        old = _regular(target)
        try:
            part, handle = _new_part(target, 0o600)
        except OSError as error:
            if not _takes_contents(target, old, error):
                raise
        else:
            os.close(handle)
            os.unlink(part)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from None


def _replace(
    path: str | os.PathLike[str],
    fill: Callable[[int], None],
    whole: Callable[[], bytes],
    check: Callable[[], None],
) -> None:
    """fill: writes the contents to a handle; whole: all of them."""
    try:
        target = Path(os.path.realpath(path))
        old = _regular(target)
        remove_parts(target.parent, target.name)
        linked = old is not None and old.st_nlink > 1
        if linked or not _put_beside(target, old, fill, check):
            in_place_write.write(target, whole(), check)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from None


def _put_beside(
    target: Path,
    old: os.stat_result | None,
    fill: Callable[[int], None],
    check: Callable[[], None],
) -> bool:
    """Write a file of its own and give it the target's name. False, with nothing done, where that
    cannot be, or would not be the same file to others."""
    try:
        part, handle = _new_part(target, 0o666 if old is None else 0o600)
    except OSError as error:
        if _takes_contents(target, old, error):
            return False
        raise
    try:
        fill(handle)
        if old is not None and not take_over(handle, part, target, old):
            return False
        check()
        os.replace(part, target)
        part = ""
    finally:
        if part:
            with contextlib.suppress(OSError):
                os.unlink(part)
        os.close(handle)
    in_place_write.sync_folder(target.parent)
    return True


def _takes_contents(target: Path, old: os.stat_result | None, error: OSError) -> bool:
    """Whether a file can be written in place whose folder has refused a new one with `error`."""
    return error.errno in _CLOSED and old is not None and os.access(target, os.W_OK)


def remove_parts(folder: Path, name: str = "") -> None:
    """Remove what processes that died while they saved left in `folder`, of one file or of all."""
    start = f".{name[:64]}." if name else "."
    try:
        with os.scandir(folder) as entries:
            found = [e.path for e in entries if e.name.endswith(_SUFFIX)]
    except OSError:
        return
    for path in found:
        base = os.path.basename(path)
        if base.startswith(start) and _PART.fullmatch(base):
            _remove_if_nobodys(path)


def _remove_if_nobodys(path: str) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDWR | _NO_LINK | getattr(os, "O_NONBLOCK", 0))
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode) and claim(handle):
                os.unlink(path)
        finally:
            os.close(handle)


def _regular(target: Path) -> os.stat_result | None:
    """What is there; None for nothing. Raises OSError for what is no file."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    kind = _SPECIAL.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise NotAFileError(errno.EINVAL, kind)
    return found


def _new_part(target: Path, mode: int) -> tuple[str, int]:
    """The path and the handle of a new file beside the target that is this process's own. mode: its
    own, less what the user's umask takes away."""
    while True:
        name = f".{target.name[:64]}.{secrets.token_hex(8)}{_SUFFIX}"
        part = os.path.join(target.parent, name)
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK, mode)
        if claim(handle) and os.fstat(handle).st_nlink:  # nobody took it for a dead one's
            return part, handle
        os.close(handle)


def _fill(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
    os.fsync(handle)


def _failed(path: str | os.PathLike[str], error: OSError | ValueError) -> GradstepError:
    if isinstance(error, ValueError):  # a NUL, or what no file system can encode
        reason, hint = "no file can have that name", "give another name"
    elif isinstance(error, NotAFileError):
        reason, hint = str(error.strerror), "save elsewhere"
    else:
        usual = error.strerror or type(error).__name__, "free some space, or save elsewhere"
        reason, hint = _REASONS.get(type(error), usual)
    return GradstepError(
        f"cannot write {os.fspath(path)!s}: {reason}; nothing was changed".replace("\0", "\\0"),
        kind="FileError",
        hint=hint,
    )


_REASONS: dict[type[OSError], tuple[str, str]] = {
    PermissionError: ("the folder or file is read-only", "save under another name"),
    FileNotFoundError: ("the folder does not exist", "make the folder, or save elsewhere"),
    NotADirectoryError: ("a part of the path is not a folder", "save elsewhere"),
    IsADirectoryError: ("it is a folder", "give a file name"),
}
