"""The bytes of protobuf messages, as far as summaries need them: fields written, and taken apart.

Source: protobuf's Encoding page. A message is its fields one after another, each of them a key
(number and kind) and a value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

_VARINT, _DOUBLE, _LENGTH, _FLOAT = 0, 1, 2, 5
_SIZES = {_DOUBLE: 8, _FLOAT: 4}
_LONGEST = 10  # bytes of a varint: 64 bits, seven in each


def bytes_field(number: int, content: bytes) -> bytes:
    """A text, a message or a packed list."""
    return varint(number << 3 | _LENGTH) + varint(len(content)) + content


def int_field(number: int, value: int) -> bytes:
    """A whole number, not negative."""
    return varint(number << 3 | _VARINT) + varint(value)


def float_field(number: int, value: float) -> bytes:
    """A float32, zero too."""
    return varint(number << 3 | _FLOAT) + struct.pack("<f", value)


def double_field(number: int, value: float) -> bytes:
    """A float64; nothing for zero (-0.0 is none), which is what a reader takes it for."""
    content = struct.pack("<d", value)
    return varint(number << 3 | _DOUBLE) + content if any(content) else b""


def doubles_field(number: int, values: Sequence[float]) -> bytes:
    """A packed list of float64."""
    return bytes_field(number, struct.pack(f"<{len(values)}d", *values))


def length_fields(message: bytes, number: int) -> Iterator[bytes]:
    """The texts or messages that `message` has as field `number`. Raises ValueError when it is
    no message."""
    for found, value in every_field(message):
        if found == number and isinstance(value, bytes):
            yield value


def every_field(message: bytes) -> Iterator[tuple[int, bytes | int | float]]:
    """Number and value of each field, in their order: a text, a message or a packed list as bytes,
    a whole number as 64 bits without a sign. Raises ValueError when it is no message."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        start, at = _end(message, at, key & 7)
        if at > len(message) or not key >> 3:
            raise ValueError("not a protobuf message")
        yield key >> 3, _value(key & 7, message, start, at)


def _value(kind: int, message: bytes, start: int, end: int) -> bytes | int | float:
    if kind == _VARINT:
        return read_varint(message, start)[0]
    if kind == _LENGTH:
        return message[start:end]
    found: float = struct.unpack("<d" if kind == _DOUBLE else "<f", message[start:end])[0]
    return found


def _end(message: bytes, at: int, kind: int) -> tuple[int, int]:
    """Where the content of a value begins that stands at `at`, and where it ends."""
    if kind == _VARINT:
        return at, read_varint(message, at)[1]
    if kind == _LENGTH:
        size, at = read_varint(message, at)
        return at, at + size
    if kind not in _SIZES:
        raise ValueError("not a protobuf message")
    return at, at + _SIZES[kind]


def varint(value: int) -> bytes:
    """A number, not negative: seven bits a byte, the lowest first; the top bit says that more
    follow."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def read_varint(message: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and where it ends. Raises ValueError where there is none."""
    value = 0
    for shift, byte in enumerate(message[at : at + _LONGEST]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    raise ValueError("not a protobuf message")
