"""A look at a file that may be anything: a few bytes here and there, never all of it."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

HEAD = 64 << 10  # bytes from either end
_MOST_NAMES = 2000  # members of an archive, or of a folder
_MOST_FIELDS = 64
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types of protocol buffers
_END, _ENTRY = b"PK\x05\x06", b"PK\x01\x02"  # of a zip's table of contents


class Field(NamedTuple):
    """One field of a message of protocol buffers: its number, the value of a whole number (else 0),
    and where its bytes begin and end, which may be behind the end of the file."""

    number: int
    value: int
    start: int
    end: int

    @property
    def is_bytes(self) -> bool:
        """Whether it is a text, bytes, or another message."""
        return self.start >= 0


class Sample:
    """name: of the file, with its folders; size: in bytes; at(place, count): so many of its bytes;
    listing: what is in it if it is a folder, None for a file."""

    def __init__(
        self,
        name: str,
        size: int,
        at: Callable[[int, int], bytes],
        listing: tuple[str, ...] | None = None,
    ) -> None:
        self.name, self.size, self.at, self.listing = name, size, at, listing

    @classmethod
    def of_folder(cls, path: str | os.PathLike[str]) -> Sample:
        """Raises OSError."""
        with os.scandir(path) as entries:
            names = tuple(sorted(entry.name for entry in islice(entries, _MOST_NAMES)))
        return cls(os.fspath(path), 0, lambda start, count: b"", names)

    @classmethod
    def of_bytes(cls, data: bytes, name: str) -> Sample:
        return cls(name, len(data), lambda start, count: data[start : start + count])

    @cached_property
    def head(self) -> bytes:
        return self.at(0, HEAD)

    @cached_property
    def tail(self) -> bytes:
        return self.at(max(0, self.size - HEAD), HEAD)

    @cached_property
    def text(self) -> str:
        """The beginning as text, without what a comment or a byte order mark is; "" for a file that
        is none."""
        data = self.head if self.size <= HEAD else self.head[: self.head.rfind(b"\n") + 1]
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ""
        printable = all(c.isprintable() or c in "\t\r\n\f" for c in text)
        return text.lstrip() if printable else ""

    # -- protocol buffers ----------------------------------------------------------------------

    def fields(self, within: Field | None = None) -> list[Field]:
        """The first fields of the file as a message, or of a message that is a field of it; none
        where it is no message."""
        start, end = (0, self.size) if within is None else (within.start, within.end)
        found = []
        for field in islice(self._fields(start, min(end, self.size)), _MOST_FIELDS):
            if field is None:
                return []
            found.append(field)
        return found

    def _fields(self, place: int, end: int) -> Iterator[Field | None]:
        while place < end:
            data = self.at(place, 20)
            tag, used = _varint(data, 0)
            number, kind = tag >> 3, tag & 7
            value, after = 0, used
            if kind == _VARINT:
                value, after = _varint(data, used)
            elif kind == _BYTES:
                length, after = _varint(data, used)
                if used and number and after:
                    yield Field(number, 0, place + after, place + after + length)
                    place += after + length
                    continue
            elif kind in (_FIXED32, _FIXED64):
                after += 4 if kind == _FIXED32 else 8
            else:
                after = 0
            if not used or not number or not after:
                yield None
                return
            yield Field(number, value, -1, -1)
            place += after

    def short_text(self, field: Field) -> str:
        """A field as text, of so many characters as names have; "" for anything else."""
        if not field.is_bytes or field.end - field.start > 1024:
            return ""
        try:
            text = self.at(field.start, field.end - field.start).decode()
        except UnicodeDecodeError:
            return ""
        return text if text.isprintable() else ""

    # -- archives ------------------------------------------------------------------------------

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The first names in a zip's table of contents; none for what is no zip."""
        place = self.tail.rfind(_END)
        if self.head[:4] not in (b"PK\x03\x04", _END) or place < 0 or len(self.tail) < place + 22:
            return ()
        size, start = struct.unpack("<II", self.tail[place + 12 : place + 20])
        return tuple(islice(_entries(self.at(start, min(size, 4 << 20))), _MOST_NAMES))


def _entries(table: bytes) -> Iterator[str]:
    place = 0
    while table[place : place + 4] == _ENTRY and len(table) >= place + 46:
        name, extra, comment = struct.unpack("<HHH", table[place + 28 : place + 34])
        yield table[place + 46 : place + 46 + name].decode("utf-8", "replace")
        place += 46 + name + extra + comment


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of variable length and where it ends; (0, 0) for none."""
    value = 0
    for count, byte in enumerate(data[place : place + 10]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, place + count + 1
    return 0, 0
