"""Writing a file in place, where no other may stand for it: what is torn is made whole again.

The old and the new contents are kept elsewhere (a redo record in the user's state folder) until the
new ones are on disk. A process that dies in between leaves it, and `finish` completes the write.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradstep.core.io.disk.file_claims import claim

_BLOCK = 4096  # bytes that are compared at once
_LENGTHS = struct.Struct("<QQQ")


@dataclass
class Redo:
    """What is written to which file, and what it held."""

    path: str
    old: bytes
    new: bytes


def write(target: Path, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Make `data` the contents of `target`, which is there. Raises OSError; the file is then as it
    was. check: as of replace_file."""
    folder = records_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    finish()
    handle = os.open(target, os.O_RDWR)
    try:
        old = _contents(handle)
        record = _Record(folder, Redo(str(target), old, data))
        try:
            check()
            record.is_needed = True
            try:
                _reserve(handle, len(data))
                _overwrite(handle, data)
            except BaseException:
                _overwrite(handle, old)
                record.is_needed = False
                raise
            record.is_needed = False
        finally:
            record.close()
    finally:
        os.close(handle)


def finish() -> None:
    """Complete what processes that died were writing."""
    with contextlib.suppress(OSError):
        for path in sorted(records_folder().glob("*.redo")):
            with contextlib.suppress(OSError):
                _finish(path)


def records_folder() -> Path:
    """Where the records are; follows XDG_STATE_HOME."""
    import platformdirs

    return platformdirs.user_state_path("gradstep", appauthor=False) / "writing"


def _finish(path: Path) -> None:
    record = os.open(path, os.O_RDWR)
    try:
        if not claim(record):
            return
        redo = _decoded(_contents(record))
        if redo is None:  # it died before it touched the file
            path.unlink()
            return
        handle = os.open(redo.path, os.O_RDWR)
        try:
            now = _contents(handle)
            if now not in (redo.old, redo.new):
                if not _is_torn(now, redo):
                    return  # somebody wrote something else since; the record stays
                _overwrite(handle, redo.new)
        finally:
            os.close(handle)
        path.unlink()
    finally:
        os.close(record)


def _is_torn(now: bytes, redo: Redo) -> bool:
    """Whether each byte is the old one, the new one, or not written yet."""
    old, new = redo.old, redo.new
    if not min(len(old), len(new)) <= len(now) <= max(len(old), len(new)):
        return False
    return all(
        now[at : at + _BLOCK] in (new[at : at + _BLOCK], old[at : at + _BLOCK])
        or all(byte in (0, *old[i : i + 1], *new[i : i + 1]) for i, byte in _block(now, at))
        for at in range(0, len(now), _BLOCK)
    )


def _block(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    return enumerate(data[at : at + _BLOCK], at)


class _Record:
    """A record on disk, this process's own. is_needed: the file may be torn, and it has to stay."""

    def __init__(self, folder: Path, redo: Redo) -> None:
        self.is_needed = False
        self._path = folder / f"{secrets.token_hex(8)}.redo"
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            claim(self._handle)
            _overwrite(self._handle, as_bytes(redo))
            sync_folder(folder)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if not self.is_needed:
            with contextlib.suppress(OSError):  # it is seen to be done, then, and removed
                self._path.unlink()
        os.close(self._handle)


def read_record(path: Path) -> Redo | None:
    """What was being written; None for a record that is not whole: then nothing was yet."""
    return _decoded(path.read_bytes())


def as_bytes(redo: Redo) -> bytes:
    """A record's file: a CRC-32, and the lengths of the path, the old and the new contents before
    these."""
    parts = (os.fsencode(redo.path), redo.old, redo.new)
    data = _LENGTHS.pack(*map(len, parts)) + b"".join(parts)
    return zlib.crc32(data).to_bytes(4, "little") + data


def _decoded(data: bytes) -> Redo | None:
    if len(data) < 4 + _LENGTHS.size or int.from_bytes(data[:4], "little") != zlib.crc32(data[4:]):
        return None
    path, old, _ = _LENGTHS.unpack_from(data, 4)
    rest = data[4 + _LENGTHS.size :]
    return Redo(os.fsdecode(rest[:path]), rest[path : path + old], rest[path + old :])


def sync_folder(folder: Path) -> None:
    """Make new names in it survive a power cut, where folders can be synced at all."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _contents(handle: int) -> bytes:
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(0)
        return file.read()


def _reserve(handle: int, size: int) -> None:
    """Take the space first: a full disk then leaves the file as it was."""
    if hasattr(os, "posix_fallocate") and size > (before := os.fstat(handle).st_size):
        try:
            os.posix_fallocate(handle, 0, size)
        except OSError as error:
            os.ftruncate(handle, before)
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise


def _overwrite(handle: int, data: bytes) -> None:
    left = memoryview(data)
    os.lseek(handle, 0, os.SEEK_SET)
    while left:
        left = left[os.write(handle, left) :]
    os.ftruncate(handle, len(data))
    os.fsync(handle)
