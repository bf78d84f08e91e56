"""NumPy's .npy format, read without trusting a word of it."""

from __future__ import annotations

import io
import math
import tokenize
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from core.errors import GradstepError

_MAX_RANK = 32
# What NumPy's reading of a header ends with, which parses it as Python.
_DAMAGE = (
    *(ValueError, TypeError, EOFError, SyntaxError, RecursionError, MemoryError),
    tokenize.TokenError,
)
_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def to_bytes(array: np.ndarray) -> bytes:
    """The .npy file of `array`, which must not hold objects."""
    buffer = io.BytesIO()
    plain = np.asarray(array, order="C")
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def read(stream: IO[bytes], size: int, where: str) -> np.ndarray:
    """The array in `stream`, a .npy file said to have `size` bytes. Its header is checked against
    `size` before memory is taken. Raises GradstepError that names `where`."""
    try:
        shape, fortran, dtype, used = _header(stream)
    except _DAMAGE as error:
        raise _bad(where, f"is not a NumPy array file ({_first_line(error)})") from None
    if dtype.hasobject:
        raise _bad(where, "holds Python objects, which Gradstep never loads")
    if len(shape) > _MAX_RANK or any(d < 0 for d in shape):
        raise _bad(where, f"declares the impossible shape {list(shape)}")
    expected = math.prod(shape) * dtype.itemsize
    if expected != size - used:
        raise _bad(
            where,
            f"declares {dtype}{list(shape)}, {expected} bytes, but holds {max(size - used, 0)}",
        )
    data = stream.read(expected)
    if len(data) != expected:
        raise _bad(where, f"ends after {len(data)} of {expected} bytes")
    flat = np.frombuffer(data, dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _header(stream: IO[bytes]) -> tuple[Sequence[int], bool, np.dtype, int]:
    start: Any = _Counted(stream)
    version = np.lib.format.read_magic(start)
    if version not in _HEADERS:
        raise ValueError(f"unknown format version {version}")
    shape, fortran, dtype = _HEADERS[version](start, max_header_size=10_000)
    return shape, fortran, dtype, start.count


class _Counted:
    """A stream that counts what was read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _bad(where: str, what: str) -> GradstepError:
    return GradstepError(
        f"{where} {what}", kind="FileError", hint="use another copy, or a backup, of the file"
    )
