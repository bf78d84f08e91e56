"""What a file is besides its contents: mode, owner, group, extended attributes."""

from __future__ import annotations

import errno
import os
import stat

# Set by the system itself as the file is made, or lost with every write whoever makes it.
_NOT_OURS = ("security.",)
_NONE = (errno.ENOTSUP, errno.ENODATA, errno.ENOSYS, errno.EPERM)


def take_over(handle: int, path: str, target: str | os.PathLike[str], old: os.stat_result) -> bool:
    """Give the open file at `path` what `target` has, `old` being its status. False where something
    cannot be given to it."""
    if hasattr(os, "fchown"):
        new = os.fstat(handle)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            try:
                os.fchown(handle, old.st_uid, old.st_gid)
            except PermissionError:
                return False
    os.chmod(path, stat.S_IMODE(old.st_mode))
    return not hasattr(os, "setxattr") or _copy_extended(handle, target)


def _copy_extended(handle: int, target: str | os.PathLike[str]) -> bool:
    """Access control lists are among them."""
    try:
        for name in _ours(target):
            os.setxattr(handle, name, os.getxattr(target, name))
        for name in set(_ours(handle)) - set(_ours(target)):  # by a default of the folder
            os.removexattr(handle, name)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        return False
    return True


def _ours(file: int | str | os.PathLike[str]) -> list[str]:
    try:
        return [name for name in os.listxattr(file) if not name.startswith(_NOT_OURS)]
    except OSError as error:
        if error.errno in _NONE:
            return []
        raise
