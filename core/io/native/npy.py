"""NumPy's .npy format, read without trusting a word of it."""

from __future__ import annotations

import io
import math
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import array_bytes
from gradstep.core.graph.number_kinds import BFLOAT16

_CHUNK = 1 << 20  # bytes that are read at once
# What NumPy's reader of headers raises: it reads them as Python, once more where that fails.
_NOT_A_HEADER = (
    ValueError, TypeError, EOFError, SyntaxError, RecursionError, MemoryError, OverflowError,
    tokenize.TokenError,
)  # fmt: skip
_TWO_BYTES = np.dtype("V2")
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
    """The array in `stream`, a .npy file said to have `size` bytes; nobody else has it, and it
    cannot be written to. Its header is checked against `size` before memory is taken. Raises
    GradstepError that names `where`."""
    return read_elements(stream, read_header(stream, size, where), where)


@dataclass(frozen=True)
class Header:
    """What a file says of its array, which lies `offset` bytes behind its beginning. fortran:
    whether the first index changes fastest."""

    dtype: np.dtype
    shape: tuple[int, ...]
    offset: int
    fortran: bool = False

    @property
    def size(self) -> int:
        """In bytes, without the header."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes], size: int, where: str) -> Header:
    """The header of a .npy file said to have `size` bytes, which are as many as it declares.
    Raises GradstepError that names `where`."""
    shape, fortran, dtype, used = _checked_header(stream, where)
    header = Header(dtype, shape, used, fortran)
    if header.size != size - used:
        raise _bad(
            where,
            f"declares {dtype}{list(shape)}, {header.size} bytes, but holds {max(size - used, 0)}",
        )
    return header


def read_elements(stream: IO[bytes], header: Header, where: str) -> np.ndarray:
    """The array that `header` declares, which begins where `stream` stands; nobody else has it, and
    it cannot be written to. Raises GradstepError that names `where`."""
    flat = np.empty(math.prod(header.shape), header.dtype)
    filled = _fill(stream, flat)
    if filled != header.size:
        raise _bad(where, f"ends after {filled} of {header.size} bytes")
    flat.setflags(write=False)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _checked_header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """The shape, whether it is in Fortran's order, the element type, and the header's own bytes."""
    try:
        shape, fortran, dtype, used = _header(stream)
    except _NOT_A_HEADER as error:
        raise _bad(where, f"is not a NumPy array file ({_first_line(error)})") from None
    if dtype.hasobject:
        raise _bad(where, "holds Python objects, which Gradstep never loads")
    try:
        array_bytes(shape, dtype.itemsize)
    except ValueError:
        raise _bad(where, f"declares the impossible shape {list(shape)}") from None
    return tuple(shape), fortran, dtype, used


def _fill(stream: IO[bytes], flat: np.ndarray) -> int:
    """Read what `flat` has room for, straight into it; how many bytes there were."""
    room = flat.view(np.uint8).data if flat.nbytes else memoryview(b"")
    done = 0
    while done < len(room):
        part = stream.read(min(len(room) - done, _CHUNK))
        if not part:
            break
        room[done : done + len(part)] = part
        done += len(part)
    return done


def _header(stream: IO[bytes]) -> tuple[Sequence[int], bool, np.dtype, int]:
    start: Any = _Counted(stream)
    version = np.lib.format.read_magic(start)
    if version not in _HEADERS:
        raise ValueError(f"unknown format version {version}")
    shape, fortran, dtype = _HEADERS[version](start, max_header_size=10_000)
    return shape, fortran, _as_numbers(dtype), start.count


def _as_numbers(dtype: np.dtype) -> np.dtype:
    """bfloat16, which NumPy has no name for, is written as two bytes that mean nothing."""
    return BFLOAT16 if dtype == _TWO_BYTES else dtype


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
