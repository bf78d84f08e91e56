"""CRC-32C byte by byte: what a byte does to the state of a checksum."""

from __future__ import annotations

from functools import cache

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, the lowest bit first

Bytes = bytes | bytearray | memoryview


@cache
def byte_table() -> list[int]:
    """What a byte does to a state of zero."""
    return [_remainder(byte) for byte in range(256)]


def short_advance(state: int, data: Bytes) -> int:
    """The state behind `data` from the one before."""
    table = byte_table()
    for byte in data:
        state = table[(state ^ byte) & 0xFF] ^ state >> 8
    return state


def _remainder(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc
