"""Tables in LevelDB's format, which the index of a checkpoint is: keys in order, and their values.

Source: LevelDB's doc/table_format.md. Blocks of entries, each with a checksum, then a block that
says where they are, then a footer of fixed size. A key is written without the beginning that it
shares with the one before it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from gradstep.core.errors import GradstepError
from gradstep.core.io.checksum import masked_checksum
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.snappy_block import unpack_snappy, unpacked_size
from gradstep.core.ops.formats.protobuf import read_varint

FOOTER, MAGIC = 48, bytes.fromhex("57fb808b247547db")  # bytes; its last eight
TRAILER = 5  # bytes behind a block: how it is packed, and its checksum
_ENTRY = 150  # bytes that an entry takes besides its own
_SNAPPY, _OTHERS = 1, {2: "Zstandard"}  # by which a block may be packed


def read_table(data: bytes, budget: Budget) -> dict[bytes, bytes]:
    """The values by their keys, which come in order. Raises GradstepError (FileError) for what is
    cut off, damaged or packed by other than Snappy, and OverBudgetError."""
    if len(data) < FOOTER or not data.endswith(MAGIC):
        raise damaged("is cut off, or no table of LevelDB")
    try:
        return _read(data, budget)
    except (ValueError, struct.error):
        raise damaged("is damaged: its entries are none") from None


def _read(data: bytes, budget: Budget) -> dict[bytes, bytes]:
    at = len(data) - FOOTER
    _, at = _handle(data, at)  # of a block for filters, of which there are none
    index, _ = _handle(data, at)
    found: dict[bytes, bytes] = {}
    last: bytes | None = None
    for _, place in _entries(_block(data, budget, *index)):
        for key, value in _entries(_block(data, budget, *_handle(place, 0)[0])):
            if last is not None and key <= last:
                raise damaged("is damaged: its keys are not in order")
            budget.take(len(key) + len(value) + _ENTRY, "its entries")
            found[key] = value
            last = key
    return found


def _handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    """Where a block begins and how long it is; and where that ends to be said."""
    start, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (start, size), at


def _block(data: bytes, budget: Budget, start: int, size: int) -> bytes:
    """The entries of a block, without what helps to search in it."""
    end = start + size
    if end + TRAILER > len(data) - FOOTER or not size:
        raise damaged(f"is cut off or damaged: byte {end} is not there")
    if masked_checksum(data[start : end + 1]) != data[end + 1 : end + TRAILER]:
        raise damaged(f"is damaged: the bytes from {start} on have another checksum")
    block = _unpacked(data[start:end], data[end], budget)
    (restarts,) = struct.unpack("<I", block[-4:])
    return block[: max(0, len(block) - 4 - 4 * restarts)]


def _unpacked(block: bytes, packed_by: int, budget: Budget) -> bytes:
    if packed_by == _SNAPPY:
        budget.take(unpacked_size(block), "a block of its entries")
        return unpack_snappy(block)
    if packed_by:
        raise GradstepError(
            f"is packed by {_OTHERS.get(packed_by, 'an unknown program')}",
            kind="FileError",
            hint="save the checkpoint in TensorFlow, which does not pack it",
        )
    return block


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    at, key = 0, b""
    while at < len(block):
        shared, at = read_varint(block, at)
        more, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or at + more + size > len(block):
            raise ValueError("no entry")
        key = key[:shared] + block[at : at + more]
        at += more + size
        yield key, block[at - size : at]


def damaged(what: str) -> GradstepError:
    """A FileError."""
    return GradstepError(what, kind="FileError", hint="use another copy of the checkpoint")
