"""TensorFlow's files of records, each with its length and checksums (record_writer.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from gradstep.core.io.checksum import masked_checksum

_HEADER = 12  # bytes: a length and its checksum


def record(data: bytes) -> bytes:
    """`data` as a TFRecord: its length and itself, each with its checksum behind it."""
    length = struct.pack("<Q", len(data))
    return length + masked_checksum(length) + data + masked_checksum(data)


class Records:
    """The records in a file's bytes, one after the other, as far as they are whole. ended: once
    they are all read, why they end before the file does; "" where they do not."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.ended = ""

    def __iter__(self) -> Iterator[bytes]:
        at, data = 0, self._data
        while at < len(data):
            header = data[at : at + _HEADER]
            if len(header) < _HEADER:
                self.ended = f"cut off at byte {at}"
                return
            (length,) = struct.unpack("<Q", header[:8])
            start, end = at + _HEADER, at + _HEADER + length
            if masked_checksum(header[:8]) != header[8:]:
                self.ended = f"damaged at byte {at}"
                return
            if end + 4 > len(data):
                self.ended = f"cut off at byte {at}"
                return
            content = data[start:end]
            if masked_checksum(content) != data[end : end + 4]:
                self.ended = f"damaged at byte {start}"
                return
            yield content
            at = end + 4
