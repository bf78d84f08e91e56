"""What a file or a set of data has to offer: its parts, as the user chooses among them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.data.array_files import Reading, map_array
from gradstep.core.data.built_in_sets import SETS
from gradstep.core.data.file_place import split_place
from gradstep.core.data.image_paths import names_images
from gradstep.core.data.named_tensors import CheckpointTensors
from gradstep.core.data.safetensors_file import SafetensorsFile, is_safetensors
from gradstep.core.data.tables import names_columns
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.io.disk.file_bytes import read_open_file, unreadable
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.native.zip_archive import Archive
from gradstep.core.io.tensorflow.tensor_bundle import INDEX

_TABLES = (".csv", ".tsv", ".txt")
_HEAD = 16  # bytes
MOST_TEXTS = 100  # that are taken for classes


@dataclass(frozen=True)
class Part:
    """One part of a source. name: as a column's text names it, "" for all there is. row: the shape
    of a row; whole: whether its numbers are whole; most: the largest of them, NaN where there is
    none, or nobody looked; texts: of a column that is none of numbers, the different cells, as far
    as they can be classes."""

    name: str
    row: tuple[int, ...]
    whole: bool = False
    most: float = float("nan")
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """place: what is looked at, without "@": the path of a file, or the name of a set. is_table:
    its parts are columns, of which several go together. note: what it is."""

    place: str
    rows: int
    parts: tuple[Part, ...]
    is_table: bool = False
    note: str = ""


def survey(place: str, reading: Reading) -> Survey:
    """Look at the whole of what `place` names. Raises GradstepError as `read_array` does."""
    if place in SETS:
        found = SETS[place]
        parts = tuple(_part(name, array) for name, array in found.parts.items())
        return Survey(place, len(next(iter(found.parts.values()))), parts, note=found.note)
    path, _ = split_place(place)
    if path.lower().endswith(_TABLES):
        return _table(path, reading)
    names = _names(path, reading)
    arrays = {name: map_array(f"{path}:{name}" if name else path, reading) for name in names}
    parts = tuple(_part(name, array) for name, array in arrays.items() if array.ndim)
    rows = max((len(array) for array in arrays.values() if array.ndim), default=0)
    return Survey(path, rows, parts)


def array_shapes(path: str, reading: Reading) -> dict[str, tuple[int, ...]]:
    """The arrays of a file by name; of one that is a single one, that by "". Raises
    GradstepError."""
    names = _names(path, reading)
    return {name: map_array(f"{path}:{name}" if name else path, reading).shape for name in names}


def _table(path: str, reading: Reading) -> Survey:
    """Each column by itself; of one that holds no number, nothing is said."""
    # As texts, so that one column that is none of numbers does not hide the others.
    cells = map_array(path, replace(reading, dtype=np.dtype(object)))
    first = [str(cell) for cell in cells[0]]
    named = names_columns(first) and len(cells) > 1
    titles = first if named else [str(i + 1) for i in range(len(first))]
    rows = cells[1:] if named else cells
    parts = tuple(_column(title, rows[:, i]) for i, title in enumerate(titles))
    return Survey(path, len(rows), parts, is_table=True)


def _column(title: str, cells: np.ndarray) -> Part:
    try:
        numbers = cells.astype(np.float64)
    except ValueError:
        return Part(title, (), texts=tuple(sorted({*map(str, cells)}))[: MOST_TEXTS + 1])
    return _part(title, numbers)


def _names(path: str, reading: Reading) -> list[str]:
    """The arrays of a file by name; [""] for a single one, as the images in a folder are."""
    try:
        if names_images(path, reading.folder):
            return [""]
        with RegularFile(reading.folder / path) as file:
            head = file.at(0, _HEAD)
            if head.startswith(b"PK"):
                archive = Archive(read_open_file(file, reading.budget), reading.budget)
                return [name.removesuffix(".npy") for name in archive if name.endswith(".npy")]
            if is_safetensors(head, file.size):
                return [*SafetensorsFile(file, reading.budget).names]
            if path.endswith(INDEX):
                return CheckpointTensors(reading.folder / path, reading.budget).names
    except (OSError, ValueError, RuntimeError) as error:
        raise unreadable(path, error) from None
    return [""]


_LOOKED_AT = 1 << 22  # numbers of which the largest is looked for


def _part(name: str, array: np.ndarray) -> Part:
    row = array.shape[1:]
    if (
        kind_of(array.dtype) not in "iufb"
        or isinstance(array, np.memmap)
        or array.size > _LOOKED_AT
    ):
        return Part(name, row, kind_of(array.dtype) in "iub")
    whole = kind_of(array.dtype) in "iub" or bool(np.array_equal(array, np.round(array)))
    return Part(name, row, whole, float(array.max()) if array.size else float("nan"))
