"""What Snappy packed, unpacked: a block of a table, as some writers of checkpoints leave it.

Source: google/snappy, format_description.txt. A length, then texts as they are and copies of what
came before.
"""

from __future__ import annotations

from gradstep.core.ops.formats.protobuf import read_varint

_MOST = 22  # times as much as was packed, of which every three bytes may stand for 64
_COPY_1, _COPY_2 = 1, 2  # how many bytes say from where; others have four


def unpack_snappy(packed: bytes) -> bytes:
    """Raises ValueError for what Snappy did not pack."""
    size, (_, at) = unpacked_size(packed), read_varint(packed, 0)
    made = bytearray()
    while at < len(packed):
        at = _literal(packed, at, made) if not packed[at] & 3 else _copy(packed, at, made)
        if len(made) > size:
            raise ValueError("more than was said")
    if len(made) != size:
        raise ValueError("less than was said")
    return bytes(made)


def unpacked_size(packed: bytes) -> int:
    """Bytes that it will be. Raises ValueError for more than can have been packed."""
    size, _ = read_varint(packed, 0)
    if size > _MOST * len(packed):
        raise ValueError("more than can have been packed")
    return size


def _literal(packed: bytes, at: int, made: bytearray) -> int:
    """Add bytes as they stand there; where the next element begins."""
    count, at = packed[at] >> 2, at + 1
    if count >= 60:
        width = count - 59
        count, at = int.from_bytes(packed[at : at + width], "little"), at + width
    end = at + count + 1
    if end > len(packed):
        raise ValueError("cut off")
    made += packed[at:end]
    return end


def _copy(packed: bytes, at: int, made: bytearray) -> int:
    """Add bytes again that were added before, some perhaps by this very copy."""
    tag = packed[at]
    if tag & 3 == _COPY_1:
        width, count, high = 1, (tag >> 2 & 7) + 4, tag >> 5 << 8
    else:
        width, count, high = 2 if tag & 3 == _COPY_2 else 4, (tag >> 2) + 1, 0
    end = at + 1 + width
    back = high | int.from_bytes(packed[at + 1 : end], "little")
    if end > len(packed) or not 0 < back <= len(made):
        raise ValueError("a copy of what is not there")
    start = len(made) - back
    again = bytes(made[start : start + count])
    made += (again * (-(-count // len(again))))[:count]
    return end
