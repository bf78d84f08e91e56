"""Tensors of texts in a checkpoint's data: how long each is, a checksum of that, and the texts.

Source: WriteStringTensor in tensorflow/core/util/tensor_bundle/tensor_bundle.cc (Apache 2.0).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from gradstep.core.io.checksum import crc32c, masked
from gradstep.core.io.tensorflow.sorted_table import damaged
from gradstep.core.ops.formats.protobuf import read_varint, varint

_CHECKED = 4  # bytes


def texts_bytes(texts: Sequence[bytes]) -> tuple[bytes, int]:
    """What is stored, and its checksum."""
    lengths = crc32c(_counted(map(len, texts)))
    check = struct.pack("<I", masked(lengths))
    said = b"".join(varint(len(text)) for text in texts)
    whole = b"".join(texts)
    return said + check + whole, crc32c(whole, crc32c(check, lengths))


def read_texts(data: bytes, count: int) -> tuple[list[bytes], int]:
    """`count` texts, and the checksum of all of it. Raises GradstepError (FileError)."""
    sizes, at = [], 0
    try:
        for _ in range(count):
            size, at = read_varint(data, at)
            sizes.append(size)
    except ValueError:
        raise damaged("has texts without a length") from None
    lengths, check = crc32c(_counted(sizes)), data[at : at + _CHECKED]
    at += _CHECKED
    if struct.pack("<I", masked(lengths)) != check or at + sum(sizes) != len(data):
        raise damaged("has texts of other lengths than it says")
    found = []
    for size in sizes:
        found.append(data[at : at + size])
        at += size
    return found, crc32c(b"".join(found), crc32c(check, lengths))


def _counted(sizes: Iterable[int]) -> bytes:
    """What the checksum of lengths is of: four bytes each, or eight where they do not fit."""
    return b"".join(struct.pack("<Q" if size >> 32 else "<I", size) for size in sizes)
