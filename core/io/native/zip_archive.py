"""The zip around a document: written the same every time, read within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import TEXT, Budget, in_words
from gradstep.core.io.native import npy

MIMETYPE = "application/x-gradstep+zip"
MAX_MEMBERS = 100_000
MAX_SOURCE = 16 << 20  # bytes of one member of Python
_ENTRY = b"PK\x01\x02"  # before each part in the table of contents
_CHUNK = 1 << 20  # bytes that are unpacked at once
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DEFLATE_FROM = 64 << 10  # below this, the same bytes whatever zlib is installed
_SAMPLE = 16 << 10  # bytes
_WORTH = 0.85  # of its size; random float32 numbers keep 0.92
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
    info.compress_type = zipfile.ZIP_DEFLATED if _is_worth_packing(data) else zipfile.ZIP_STORED
    archive.writestr(info, data, compresslevel=6)


def _is_worth_packing(data: bytes) -> bool:
    """Whether a large member gets smaller, by parts of it: trained weights hardly do, and to pack a
    hundred million of them takes a quarter of a minute."""
    if len(data) < _DEFLATE_FROM:
        return False
    places = (0, len(data) // 2, len(data) - _SAMPLE)
    sample = b"".join(data[at : at + _SAMPLE] for at in places)
    return len(zlib.compress(sample, 1)) < _WORTH * len(sample)


class Archive:
    """A zip to read: nothing is unpacked before all its declared sizes were found to be within
    `budget`, no more than that is ever read, and no member twice. Every failure is a GradstepError:
    FileError, or OverBudgetError. what: that it is to be, for messages; todo: where it is not."""

    def __init__(
        self,
        data: bytes,
        budget: Budget | None = None,
        what: str = "a Gradstep document",
        todo: str = "open another file",
    ) -> None:
        self._budget = budget or Budget()
        if (count := data.count(_ENTRY)) > MAX_MEMBERS:  # before zipfile makes an object of each
            raise _bad(f"holds {count} parts; the limit is {MAX_MEMBERS}")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise _no_zip(data, error, what, todo) from None
        infos = self._zip.infolist()
        self._infos = {_safe(info.filename): info for info in infos}
        if len(self._infos) != len(infos):
            raise _bad("holds two parts of the same name")
        self._budget.take(sum(info.file_size for info in infos), "its parts, unpacked")
        self._texts: dict[str, str] = {}
        self._tensors: dict[str, np.ndarray] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._infos

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def json(self, name: str) -> bytearray:
        """A text member that will be decoded into records: their memory is asked for. It is not
        kept here."""
        info, longest = self._info(name), self._budget.longest_text
        if info.file_size > longest:
            self._budget.take(TEXT * info.file_size, f"{name}, {in_words(info.file_size)} of text")
        text = self._bytes(info)
        self._budget.take_json(text, name)
        return text

    def text(self, name: str) -> str:
        """A text member."""
        if name not in self._texts:
            info = self._info(name)
            if info.file_size > MAX_SOURCE:
                what = f"{name} is {in_words(info.file_size)} of text"
                raise _bad(f"{what}; the limit is {in_words(MAX_SOURCE)}")
            try:
                self._texts[name] = self._bytes(info).decode()
            except UnicodeDecodeError:
                raise _bad(f"{name} is not UTF-8 text") from None
        return self._texts[name]

    def raw(self, name: str) -> bytes:
        """A member as it is."""
        return bytes(self._bytes(self._info(name)))

    def tensor(self, name: str) -> np.ndarray:
        """An .npy member, which cannot be written to."""
        if name not in self._tensors:
            info = self._info(name)
            try:
                with self._zip.open(info) as stream:
                    self._tensors[name] = npy.read(stream, info.file_size, name)
            except _DAMAGE as error:
                raise _damaged(name, error) from None
        return self._tensors[name]

    def _info(self, name: str) -> zipfile.ZipInfo:
        if name not in self._infos:
            raise _bad(f"{name} is missing")
        return self._infos[name]

    def _bytes(self, info: zipfile.ZipInfo) -> bytearray:
        data = bytearray()
        try:
            with self._zip.open(info) as stream:
                while len(data) <= info.file_size and (part := stream.read(_CHUNK)):
                    data += part
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


def _no_zip(data: bytes, error: Exception, what: str, todo: str) -> GradstepError:
    if data[:2] == b"PK":
        return _bad(f"is cut off or damaged ({error})")
    begins = f"no zip archive, and begins with {data[:8].hex(' ')}" if data else "empty"
    text = f"is not {what}: it is {begins}"
    return GradstepError(text, kind="FileError", hint=todo)


def _damaged(name: str, error: Exception) -> GradstepError:
    return _bad(f"{name} is damaged ({error})")


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=_HINT)
