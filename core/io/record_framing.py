"""TensorFlow's files of records, each with its length and checksums (record_writer.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache

_POLYNOMIAL = 0x82F63B78  # of CRC-32C, the lowest bit first
_MASK = 0xA282EAD8
_HEADER = 12  # bytes: a length and its checksum
_CHECKED = 1 << 20  # bytes of a record whose own checksum is looked at: it takes 0.2 s


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
            if length <= _CHECKED and masked_checksum(content) != data[end : end + 4]:
                self.ended = f"damaged at byte {start}"
                return
            yield content
            at = end + 4


def crc32c(data: bytes) -> int:
    """The checksum by Castagnoli's polynomial."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@cache
def _table() -> list[int]:
    return [_remainder(byte) for byte in range(256)]


def _remainder(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc


def masked_checksum(data: bytes) -> bytes:
    """What stands behind a record's parts: masked, since the checksum of what holds its own
    checksum says little."""
    crc = crc32c(data)
    rotated = crc >> 15 | crc << 17
    return struct.pack("<I", rotated + _MASK & 0xFFFFFFFF)
