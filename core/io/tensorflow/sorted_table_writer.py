"""Writing tables in LevelDB's format: the same bytes that TensorFlow writes.

See gradstep.core.io.tensorflow.sorted_table for what they are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from gradstep.core.io.checksum import masked_checksum
from gradstep.core.io.tensorflow.sorted_table import FOOTER, MAGIC
from gradstep.core.ops.formats.protobuf import varint

_BLOCK = 256 << 10  # bytes, behind which the next one begins
_WHOLE = 16  # entries from one key that is written whole to the next


def table_bytes(items: Iterable[tuple[bytes, bytes]], block: int = _BLOCK) -> bytes:
    """The file of keys, in order, with their values. block: bytes of one, at least."""
    file, places = bytearray(), _Block(1)
    entries, handle = _Block(_WHOLE), b""
    for key, value in items:
        if handle:
            places.add(_between(entries.last, key), handle)
            entries, handle = _Block(_WHOLE), b""
        entries.add(key, value)
        if entries.size >= block:
            handle = _put(file, entries)
    places.add(_behind(entries.last), handle or _put(file, entries))
    ends = _put(file, _Block(_WHOLE)) + _put(file, places)
    return bytes(file) + ends.ljust(FOOTER - len(MAGIC), b"\0") + MAGIC


class _Block:
    """whole: how many entries from one whole key to the next; last: the key of the last one."""

    def __init__(self, whole: int) -> None:
        self._whole, self._count = whole, 0
        self._data, self._starts, self.last = bytearray(), [0], b""

    @property
    def size(self) -> int:
        return len(self._data) + 4 * len(self._starts) + 4

    def add(self, key: bytes, value: bytes) -> None:
        shared = _shared(self.last, key)
        if self._count and self._count % self._whole == 0:
            self._starts.append(len(self._data))
            shared = 0
        self._data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self._data += key[shared:] + value
        self._count, self.last = self._count + 1, key

    def to_bytes(self) -> bytes:
        ends = struct.pack(f"<{len(self._starts)}I", *self._starts)
        return bytes(self._data) + ends + struct.pack("<I", len(self._starts))


def _put(file: bytearray, block: _Block) -> bytes:
    """Add a block; where it is."""
    start, data = len(file), block.to_bytes()
    file += data + b"\0" + masked_checksum(data + b"\0")
    return varint(start) + varint(len(data))


def _between(last: bytes, following: bytes) -> bytes:
    """The shortest key from the one on, before the other."""
    at = _shared(last, following)
    if at < min(len(last), len(following)) and last[at] + 1 < following[at]:
        return last[:at] + bytes([last[at] + 1])
    return last


def _behind(last: bytes) -> bytes:
    """A short key that is not before it."""
    at = next((i for i, byte in enumerate(last) if byte != 0xFF), None)
    return last if at is None else last[:at] + bytes([last[at] + 1])


def _shared(a: bytes, b: bytes) -> int:
    """How many bytes both begin with."""
    most = min(len(a), len(b))
    return next((i for i in range(most) if a[i] != b[i]), most)
