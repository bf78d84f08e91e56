"""A slice written to a file, or as text, piece by piece: .npy, .npz, .csv, NumPy's print."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.tensors.element_chunks import CHUNK, Array, chunks
from gradstep.core.host.tensors.matrix_window import rectangle, table_size
from gradstep.core.io.disk.atomic_write import write_file

MOST_COPIED = 100_000  # elements, as text
MOST_SENT = 256 << 20  # bytes of a file that goes through the pipe

Write = Callable[[Array, str, IO[bytes]], None]


def save(view: Array, name: str, path: str, format: str) -> int:
    """Write a slice to `path`, whole or not at all; how many bytes the file has. Raises
    GradstepError."""
    write = writer_of(format)
    check_kind(view, format)
    write_file(path, lambda stream: write(view, name, stream))
    return Path(path).stat().st_size


def contents(view: Array, name: str, format: str) -> bytes:
    """The same, of which the file is written by another process."""
    write = writer_of(format)
    check_kind(view, format)
    if view.nbytes > MOST_SENT:
        raise GradstepError(
            f"{view.nbytes >> 20} MB are too many to be handed over (at most {MOST_SENT >> 20})",
            kind="ResourceExhaustedError",
            hint="choose a slice, or let the document's Python run without limits",
        )
    stream = io.BytesIO()
    write(view, name, stream)
    return stream.getvalue()


def writer_of(format: str) -> Write:
    """Raises GradstepError for a format that there is not."""
    if format not in WRITERS:
        raise GradstepError(
            f"tensors are not saved as {format or 'a file without a suffix'}",
            kind="FileError",
            hint=f"choose {', '.join(WRITERS)}",
        )
    return WRITERS[format]


def check_kind(view: Array, format: str) -> None:
    """Texts have no place in NumPy's files, which would hold Python objects."""
    if view.dtype.hasobject and format in (".npy", ".npz"):
        raise GradstepError(
            "texts are not saved in NumPy's files, which would have to hold Python objects",
            kind="FileError",
            hint="save them as .csv",
        )


def _npy(view: Array, name: str, stream: IO[bytes]) -> None:
    kind = view.dtype.newbyteorder("<")
    header = {"descr": kind.str, "fortran_order": False, "shape": view.shape}
    np.lib.format.write_array_header_1_0(stream, header)
    for piece in chunks(view):
        stream.write(piece.astype(kind, copy=False).tobytes())


def _npz(view: Array, name: str, stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream, "w") as file:
        member = f"{name.replace('/', '.').replace(':', '_')}.npy"
        with file.open(member, "w", force_zip64=True) as part:
            _npy(view, name, part)


def _csv(view: Array, name: str, stream: IO[bytes]) -> None:
    """Rows and columns as the table shows them, each number so that it is read back the same."""
    rows, columns = table_size(view.shape)
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    lines = csv.writer(text, lineterminator="\n")
    step = max(1, (CHUNK >> 4) // max(columns, 1))
    for row in range(0, rows, step):
        parts = [
            rectangle(view, row, min(step, rows - row), column, CHUNK >> 4)
            for column in range(0, columns, CHUNK >> 4)
        ]
        lines.writerows(map(_texts, np.concatenate(parts, 1))) if parts else None
    text.detach()


def _texts(row: Array) -> list[str]:
    """Elements in the fewest digits that are read back as the same number."""
    if row.dtype.hasobject:
        return [x.decode("utf-8", "replace") if isinstance(x, bytes) else str(x) for x in row]
    return [str(x) for x in row] if kind_of(row.dtype) == "f" else [str(x) for x in row.tolist()]


def _print(view: Array, name: str, stream: IO[bytes]) -> None:
    """As Python reads it, with NumPy's names: `array([[1., 2.]], dtype=float32)`."""
    if view.size > MOST_COPIED:
        raise GradstepError(
            f"{view.size:,} elements are too many to be copied as text (at most {MOST_COPIED:,})",
            kind="ResourceExhaustedError",
            hint="choose a slice, or save it as .npy",
        )
    array = np.asarray(view)
    has_words = kind_of(array.dtype) == "c" and not np.isfinite(array).all()
    with np.printoptions(
        threshold=MOST_COPIED + 1,
        floatmode="unique",
        linewidth=100,
        formatter={"complexfloat": _complex} if has_words else None,
    ):
        stream.write(np.array_repr(array).encode())


def _complex(number: np.complexfloating) -> str:
    """NumPy's own `0.+infj` is no Python."""
    return str(number) if np.isfinite(number) else f"complex({number.real!s}, {number.imag!s})"


WRITERS: Mapping[str, Write] = {".npy": _npy, ".npz": _npz, ".csv": _csv, "text": _print}
