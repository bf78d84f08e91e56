"""What a message of protocol buffers will take in memory, told from its bytes before it is parsed.

As one message, bytes could take eighty times as much before anything could be said of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types of protocol buffers
_LARGE = 2 << 20  # bytes of a message of which the parts are counted before it is parsed
_MOST_PARTS = 1_000_000
_DEEP = 100  # messages in messages, as many as protobuf parses
_PART = 80  # bytes that a part of a message takes at most, which may be empty
_VALUE = 8  # bytes that a packed value may take for one byte of the file

Place = tuple[int, int]  # where bytes begin and end


def weigh(data: bytes, place: Place, descriptor: Any, what: str, budget: Budget) -> None:
    """Make sure that a large message may be parsed; what that takes is let go of again. Raises
    GradstepError: FileError, or OverBudgetError."""
    if place[1] - place[0] > _LARGE:
        rest = Budget(budget.limit - budget.taken)
        rest.take(place[1] - place[0], what)
        for count, size in enumerate(_sizes(data, place, descriptor)):
            rest.take(size, f"the parts of {what}")
            if count > _MOST_PARTS:
                raise GradstepError(
                    f"{what} has more than {_MOST_PARTS:,} parts, as none that a program makes has",
                    kind="FileError",
                    hint="the file is damaged, or made to take memory",
                )


def _sizes(data: bytes, place: Place, descriptor: Any, depth: int = 0) -> Iterator[int]:
    """What the parts of a message take in memory, those of nested messages included."""
    kinds = descriptor.fields_by_number
    if depth > _DEEP:
        raise cut_off(data, descriptor.name)
    for number, start, end in fields(data, place, descriptor.name):
        field = kinds.get(number)
        yield _PART
        if field is None or start < 0:
            continue
        if field.message_type is not None:
            yield from _sizes(data, (start, end), field.message_type, depth + 1)
        elif field.cpp_type != field.CPPTYPE_STRING:
            yield _VALUE * (end - start)


def fields(data: bytes, place: Place, what: str) -> Iterator[tuple[int, int, int]]:
    """The fields of a message: number, and where the bytes of one that has a length begin and end,
    -1 for others. what: a message of this name. Raises GradstepError (FileError)."""
    at, end = place
    while at < end:  # what has one byte, as most has, is read here, without a call
        if (tag := data[at]) < 0x80:
            at += 1
        else:
            tag, at = _varint(data, at, end, what)
        number, wire = tag >> 3, tag & 7
        start = stop = -1
        if wire == _BYTES:
            if at < end and (size := data[at]) < 0x80:
                start = at + 1
            else:
                size, start = _varint(data, at, end, what)
            at = stop = start + size
        elif wire == _VARINT:
            _, at = _varint(data, at, end, what)
        elif wire in (_FIXED32, _FIXED64):
            at += 4 if wire == _FIXED32 else 8
        else:
            raise cut_off(data, what)  # groups, which these never had
        if at > end or not number:
            raise cut_off(data, what)
        yield number, start, stop


def _varint(data: bytes, at: int, end: int, what: str) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise cut_off(data, what)


def cut_off(data: bytes, what: str) -> GradstepError:
    """The error of bytes that are not a whole message of this name."""
    return GradstepError(
        f"{len(data)} bytes are cut off, or not a {what}",
        kind="FileError",
        hint="use another copy of the file",
    )
