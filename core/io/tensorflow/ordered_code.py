"""Keys of a variable's slices in the index of a checkpoint: numbers and texts that sort as bytes.

Source: tensorflow/core/util/saved_tensor_slice_util.cc, EncodeTensorNameSlice, and
core/lib/strings/ordered_code.cc (Apache 2.0).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SLICE = b"\0"  # the first byte of such keys, which no name begins with

Extent = tuple[int, int]  # where a slice begins along an axis, and how long it is; -1: all of it


def slice_key(name: bytes, extents: Sequence[Extent]) -> bytes:
    """The key under which a slice of a variable is found."""
    numbers = b"".join(_signed(number) for extent in extents for number in extent)
    return SLICE + _text(name) + _count(len(extents)) + numbers


def _text(text: bytes) -> bytes:
    """Its end can be no part of it: a zero is followed by 255 inside, and 255 by a zero."""
    return (
        re.sub(rb"[\0\xff]", lambda found: found[0] + bytes([found[0][0] ^ 0xFF]), text) + b"\0\1"
    )


def _count(number: int) -> bytes:
    """Its bytes, the highest first, and before them how many."""
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _signed(number: int) -> bytes:
    """As many bits set first as there are bytes, then the number; one less than zero inverted."""
    size = (~number if number < 0 else number).bit_length() // 7 + 1
    head = ((1 << size) - 1) << (7 * size)
    whole = number & (1 << 8 * size) - 1
    return (whole ^ head).to_bytes(size, "big")
