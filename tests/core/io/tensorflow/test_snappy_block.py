"""What Snappy packed comes out as it was; what it did not pack is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.io.checksum import masked_checksum
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.tensorflow.snappy_block import unpack_snappy
from gradstep.core.io.tensorflow.sorted_table import MAGIC, read_table
from gradstep.core.io.tensorflow.sorted_table_writer import table_bytes
from gradstep.core.ops.formats.protobuf import varint

# By the library itself, as PyArrow 21 has it: pyarrow.compress(…, codec="snappy").
PACKED = bytes.fromhex(
    "ff04306c617965722f77656967687473fe0d00fe0d00fe0d00da0d00a8000102030405060708090a0b0c0d0e0f10"
    "1112131415161718191a1b1c1d1e1f2021222324252627616161fe0200fe0200fe0200fe0200a202009a4b02"
)
UNPACKED = b"layer/weights" * 20 + bytes(range(40)) + b"a" * 300 + b"layer/weights" * 3


def test_what_the_library_packed() -> None:
    assert unpack_snappy(PACKED) == UNPACKED


@pytest.mark.parametrize(
    ("packed", "made"),
    [
        (b"\x00", b""),
        (b"\x05\x10hello", b"hello"),
        (b"\x3d\xf0\x3c" + bytes(61), bytes(61)),
        (b"\x3d\xf4\x3c\x00" + bytes(61), bytes(61)),
        (b"\x0a\x04ab\x11\x02", b"ab" * 5),
        (b"\x07\x04ab\x12\x02\x00", b"abababa"),
        (b"\x07\x04ab\x13\x02\x00\x00\x00", b"abababa"),
        (b"\x06\x08abc\x0a\x03\x00", b"abcabc"),
    ],
)
def test_each_kind_of_element(packed: bytes, made: bytes) -> None:
    assert unpack_snappy(packed) == made


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\x80",
        b"\x04\x10hello",
        b"\x06\x10hello",
        b"\x05\x10hell",
        b"\x06\x04ab\x0e\x03\x00",  # from before the beginning
        b"\x06\x04ab\x0e\x00\x00",
        b"\x06\x04ab\x0e\x02",
        b"\xff\xff\xff\x7f\x00",
    ],
)
def test_what_is_none_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError):
        unpack_snappy(packed)


@given(st.binary(max_size=60))
def test_any_bytes_are_unpacked_or_refused(packed: bytes) -> None:
    try:
        assert len(unpack_snappy(packed)) <= 22 * len(packed)
    except ValueError:
        return


def literal(data: bytes) -> bytes:
    """Packed, with nothing said twice."""
    return varint(len(data)) + (b"\xf4" + struct.pack("<H", len(data) - 1) + data)


def packed_table(entries: dict[bytes, bytes]) -> bytes:
    """A table whose blocks Snappy packed."""
    plain = table_bytes(sorted(entries.items()))
    made, places = b"", []
    for start, size in blocks(plain):
        content = literal(plain[start : start + size]) + b"\x01"
        places.append((len(made), len(content) - 1))
        made += content + masked_checksum(content)
    index = literal(index_block(plain, places[0])) + b"\x01"
    handle = varint(len(made)) + varint(len(index) - 1)
    made += index + masked_checksum(index)
    return made + (b"\x00\x00" + handle).ljust(40, b"\0") + MAGIC


def blocks(plain: bytes) -> list[tuple[int, int]]:
    """Where the one block of a small table lies."""
    end = plain.index(struct.pack("<II", 0, 1)) + 8
    return [(0, end)]


def index_block(plain: bytes, place: tuple[int, int]) -> bytes:
    """One entry, of a key behind all others."""
    value = varint(place[0]) + varint(place[1])
    return b"\x00\x01" + varint(len(value)) + b"\xff" + value + struct.pack("<II", 0, 1)


def test_a_table_that_is_packed_is_read() -> None:
    entries = {b"": b"head", b"layer/b": b"x" * 9, b"layer/w": b"y" * 300}
    data = packed_table(entries)
    assert read_table(data, Budget()) == entries
    with pytest.raises(OverBudgetError):
        read_table(data, Budget(200))
