"""Pixels as a PNG file, by the standard library alone: no filters, one compressed stream.

Source: the PNG specification (ISO/IEC 15948), sections 5 and 11.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> colour type: grey, or RGB; with alpha


def png_bytes(pixels: np.ndarray) -> bytes:
    """The file of `pixels`, uint8 [height, width, 1 to 4 channels]."""
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter, 0
    rows[:, 1:] = pixels.reshape(height, -1)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    return _SIGNATURE + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
