"""The zip around a document: written the same every time, read within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from core.errors import GradstepError
from core.io import npy

MIMETYPE = "application/x-gradstep+zip"
MAX_MEMBERS = 100_000
MAX_TEXT = 256 << 20  # bytes of document.json, of view.json, of one source file
MAX_TOTAL = 4 << 30  # bytes of all members together, unpacked
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DEFLATE_FROM = 64 << 10  # below this, the same bytes whatever zlib is installed
_HINT = "use another copy, or a backup, of the file"


def pack(members: Mapping[str, bytes]) -> bytes:
    """A zip of `members`, `mimetype` first and not compressed; equal members give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _put(archive, "mimetype", MIMETYPE.encode())
        for name in sorted(members):
            _put(archive, name, members[name])
    return buffer.getvalue()


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system = 3
    info.external_attr = 0o644 << 16
    large = len(data) >= _DEFLATE_FROM
    info.compress_type = zipfile.ZIP_DEFLATED if large else zipfile.ZIP_STORED
    archive.writestr(info, data, compresslevel=6)


class Archive:
    """A zip to read: nothing is unpacked before its declared size was found reasonable, and no
    more than that is ever read. Every failure is a GradstepError (FileError)."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise _not_a_document(data, error) from None
        infos = self._zip.infolist()
        if len(infos) > MAX_MEMBERS:
            raise _bad(f"holds {len(infos)} parts; the limit is {MAX_MEMBERS}")
        self._infos = {_safe(info.filename): info for info in infos}
        if len(self._infos) != len(infos):
            raise _bad("holds two parts of the same name")
        total = sum(info.file_size for info in infos)
        if total > MAX_TOTAL:
            raise _bad(f"would unpack to {total} bytes; the limit is {MAX_TOTAL}")

    def __contains__(self, name: object) -> bool:
        return name in self._infos

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def text(self, name: str) -> str:
        """A text member."""
        info = self._info(name)
        if info.file_size > MAX_TEXT:
            raise _bad(f"{name} declares {info.file_size} bytes; the limit is {MAX_TEXT}")
        try:
            return self._bytes(info).decode()
        except UnicodeDecodeError:
            raise _bad(f"{name} is not UTF-8 text") from None

    def raw(self, name: str) -> bytes:
        """A member as it is."""
        return self._bytes(self._info(name))

    def tensor(self, name: str) -> np.ndarray:
        """An .npy member."""
        info = self._info(name)
        try:
            with self._zip.open(info) as stream:
                return npy.read(stream, info.file_size, name)
        except _DAMAGE as error:
            raise _damaged(name, error) from None

    def _info(self, name: str) -> zipfile.ZipInfo:
        if name not in self._infos:
            raise _bad(f"{name} is missing")
        return self._infos[name]

    def _bytes(self, info: zipfile.ZipInfo) -> bytes:
        try:
            with self._zip.open(info) as stream:
                data = stream.read(info.file_size + 1)
        except _DAMAGE as error:
            raise _damaged(info.filename, error) from None
        if len(data) != info.file_size:
            raise _bad(f"{info.filename} declares {info.file_size} bytes but holds {len(data)}")
        return data


# RuntimeError: an encrypted member, or (NotImplementedError) an unknown compression.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


def _safe(name: str) -> str:
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or ":" in name or ".." in parts or "\0" in name:
        raise _bad(f"holds a part named {name!r}, which points outside of the file")
    return name


def _not_a_document(data: bytes, error: Exception) -> GradstepError:
    if data[:2] == b"PK":
        return _bad(f"is cut off or damaged ({error})")
    return GradstepError("is not a Gradstep document", kind="FileError", hint="open another file")


def _damaged(name: str, error: Exception) -> GradstepError:
    return _bad(f"{name} is damaged ({error})")


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=_HINT)
