"""TensorFlow's files of records, each with its length and checksums (record_writer.h)."""

from __future__ import annotations

import struct
from functools import cache

_POLYNOMIAL = 0x82F63B78  # of CRC-32C, the lowest bit first
_MASK = 0xA282EAD8


def record(data: bytes) -> bytes:
    """`data` as a TFRecord: its length and itself, each with its checksum behind it."""
    length = struct.pack("<Q", len(data))
    return length + masked_checksum(length) + data + masked_checksum(data)


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
