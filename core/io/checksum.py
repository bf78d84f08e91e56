"""CRC-32C, the checksum in TensorFlow's files, and how it is masked there.

Of what is long the parts are looked at side by side, which loads NumPy; what tells files apart does
not.
"""

from __future__ import annotations

import struct

from gradstep.core.io.byte_checksum import Bytes, short_advance

_MASK = 0xA282EAD8
_LONG = 32 << 10  # bytes, from which on lanes are faster


def crc32c(data: Bytes, before: int = 0) -> int:
    """The checksum by Castagnoli's polynomial. before: that of what stands before `data`."""
    if len(data) < _LONG:
        return short_advance(before ^ 0xFFFFFFFF, data) ^ 0xFFFFFFFF
    from gradstep.core.io.lane_checksum import advance

    return advance(before ^ 0xFFFFFFFF, data) ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """As it is stored, since the checksum of what holds its own checksum says little."""
    rotated = crc >> 15 | crc << 17
    return rotated + _MASK & 0xFFFFFFFF


def masked_checksum(data: Bytes) -> bytes:
    """What stands behind a part of a file."""
    return struct.pack("<I", masked(crc32c(data)))
