"""Arrays in files: NumPy's, .safetensors, checkpoints, tables and images; known by their bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from gradstep.core.data.built_in_sets import SETS
from gradstep.core.data.file_place import split_place
from gradstep.core.data.image_files import IMAGE_SUFFIXES, is_image
from gradstep.core.data.image_paths import image_paths
from gradstep.core.data.image_rows import read_images
from gradstep.core.data.named_tensors import CheckpointTensors
from gradstep.core.data.parquet_file import PARQUET, read_parquet
from gradstep.core.data.safetensors_file import SafetensorsFile, is_safetensors
from gradstep.core.data.tables import FLOAT64, TableRules, read_table
from gradstep.core.document.packed_rows import PACKED, find_packed
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape
from gradstep.core.graph.model import Constant
from gradstep.core.graph.splat_array import is_splat
from gradstep.core.graph.suggestions import instead, list_more
from gradstep.core.io.disk.file_bytes import read_open_file, unreadable
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native import npy
from gradstep.core.io.native.zip_archive import Archive
from gradstep.core.io.tensorflow.slice_tables import ends_table
from gradstep.core.io.tensorflow.tensor_bundle import INDEX

_ARRAYS = (".npy", ".npz", ".csv", ".tsv", ".txt", ".safetensors", ".parquet", ".index")
SUFFIXES = (*_ARRAYS, *IMAGE_SUFFIXES)
_ZIP, _NPY = b"PK", b"\x93NUMPY"
_HEAD = 16  # bytes that tell one format from another
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # as spreadsheets save "Unicode text"


def _accept(shape: tuple[int, ...]) -> None:
    """Any."""


@dataclass(frozen=True)
class Reading:
    """How files are read. folder: in which a relative path begins. check: called with the shape of
    an array before its elements are read, to refuse it. shape: what images are arranged for; dtype:
    what a table's cells are to be. allow_nan: see TableRules. packed: the rows that the document
    itself has, None where there is no document."""

    folder: Path = field(default_factory=Path)
    budget: Budget = field(default_factory=Budget)
    check: Callable[[tuple[int, ...]], None] = _accept
    shape: Shape = UNKNOWN
    dtype: np.dtype = FLOAT64
    allow_nan: bool = False
    packed: Mapping[str, Constant] | None = None


def read_array(place: str, reading: Reading) -> tuple[np.ndarray, bool]:
    """The array that `FILE`, `FILE.npz:KEY`, `FILE.csv:COLUMNS`, `SET:PART`, a folder of images or
    a pattern such as `digits/*.png` names, and whether it is a table, [rows, columns]. Raises
    GradstepError: UsageError for a place that names none, FileError or ValueError for the file,
    OverBudgetError, and what `reading.check` raises."""
    name, _, part_of_set = place.partition(":")
    if name in SETS:
        return _built_in(name, part_of_set.strip(), reading), False
    if name == PACKED and reading.packed is not None:
        return _packed(part_of_set.strip(), reading.packed, reading), False
    path, part = split_place(place)
    try:
        images = image_paths(path, reading.folder)
        if images is not None:
            return _images_of(path, images, reading), False
        file = RegularFile(reading.folder / Path(path).expanduser())
    except (OSError, ValueError, RuntimeError) as error:
        raise unreadable(path, error) from None
    with file:
        file.name = path  # as it was written
        try:
            return _read(file, part, reading)
        except OverBudgetError as error:
            raise _named(error, path) from None
        except OSError as error:
            raise unreadable(path, error) from None


def _named(error: OverBudgetError, path: str) -> OverBudgetError:
    return error if path in error.message else error.inside(path)


def map_array(place: str, reading: Reading) -> np.ndarray:
    """Like `read_array`, of an array whose rows are taken a few at a time: those of an .npy file
    stay there."""
    path, _ = split_place(place)
    place_on_disk = reading.folder / Path(path).expanduser()
    if path.endswith(".npy") and not place.startswith(f"{PACKED}:"):
        with suppress(OSError, ValueError, RuntimeError), RegularFile(place_on_disk) as file:
            if file.at(0, len(_NPY)) == _NPY:
                header = npy.read_header(file.from_(0), file.size, path)
                if header.size:
                    return _mapped(place_on_disk, header)
    array, _ = read_array(place, reading)
    return array


def _mapped(path: Path, header: npy.Header) -> np.ndarray:
    order: Literal["C", "F"] = "F" if header.fortran else "C"
    return np.memmap(path, header.dtype, "r", header.offset, header.shape, order)


def _built_in(name: str, part: str, reading: Reading) -> np.ndarray:
    parts = SETS[name].parts
    if part not in parts:
        raise _no_such(name, "part", part, list(parts))
    reading.check(parts[part].shape)
    return parts[part]


def _packed(name: str, packed: Mapping[str, Constant], reading: Reading) -> np.ndarray:
    array = find_packed(packed, name).array
    if is_splat(array):  # all others were read from the document's file, within its budget
        reading.budget.take(array.nbytes, f"the rows '{name}'")
    reading.check(array.shape)
    return array


def _read(file: RegularFile, part: str, reading: Reading) -> tuple[np.ndarray, bool]:
    head, suffix = file.at(0, _HEAD), Path(file.name).suffix.lower()
    if head.startswith(_NPY):
        return _npy(file, reading), False
    if head.startswith(_ZIP):
        return _npz(file, part, reading), False
    if is_safetensors(head, file.size):
        return _safetensors(file, part, reading), False
    if suffix == INDEX or ends_table(file):
        return _checkpoint(file, part, reading), False
    if head.startswith(PARQUET):
        rules = TableRules(file.name, part, "", reading.dtype, reading.allow_nan)
        return read_parquet(file.from_(0), rules, reading.budget), True
    if suffix in (".csv", ".tsv", ".txt"):
        return _table(file, part, reading), True
    if is_image(file.name, head):
        path = reading.folder / Path(file.name).expanduser()
        return _images([(path, file.name)], reading, single=True), False
    if suffix in SUFFIXES:
        how = "np.savez" if suffix == ".npz" else "np.save"
        a = "an" if suffix.startswith(".n") else "a"
        again = "save the tensors" if suffix == ".safetensors" else f"save the arrays with {how}"
        again = "save the table" if suffix == ".parquet" else again
        raise _error(f"{file.name} is not {a} {suffix} file", f"{again} again")
    raise _error(
        f"{file.name} holds no array", f"files of values are {', '.join(_ARRAYS)}, and images"
    )


def _images_of(path: str, files: Sequence[tuple[Path, str]], reading: Reading) -> np.ndarray:
    """Those of a folder, or that a pattern names."""
    try:
        return _images(files, reading, single=False)
    except OverBudgetError as error:
        raise _named(error, path) from None


def _images(files: Sequence[tuple[Path, str]], reading: Reading, single: bool) -> np.ndarray:
    return read_images(files, reading.shape, single, reading.check, reading.budget)


def _npy(file: RegularFile, reading: Reading) -> np.ndarray:
    stream = file.from_(0)
    header = npy.read_header(stream, file.size, file.name)
    reading.check(header.shape)
    reading.budget.take(header.size, f"the array in {file.name}")
    return npy.read_elements(stream, header, file.name)


def _npz(file: RegularFile, key: str, reading: Reading) -> np.ndarray:
    data = read_open_file(file, reading.budget)
    try:
        archive = Archive(data, reading.budget)
        keys = [name.removesuffix(".npy") for name in archive if name.endswith(".npy")]
        if key in keys or (not key and len(keys) == 1):
            array = archive.tensor(f"{key or keys[0]}.npy")
            reading.check(array.shape)
            return array
    except GradstepError as error:
        raise error if error.kind != "FileError" else inside(file.name, error) from None
    raise _no_such(file.name, "array", key, keys)


def _safetensors(file: RegularFile, key: str, reading: Reading) -> np.ndarray:
    held = SafetensorsFile(file, reading.budget)
    name = _tensor_name(file, key, held.names)
    header = held.header(name)
    reading.check(header.shape)
    reading.budget.take(header.size, f"the tensor '{name}'")
    return held.read(header)


def _checkpoint(file: RegularFile, key: str, reading: Reading) -> np.ndarray:
    held = CheckpointTensors(reading.folder / Path(file.name).expanduser(), reading.budget)
    name = _tensor_name(file, key, held.names)
    reading.check(held.shape_of(name))
    return held.read(name)


def _tensor_name(file: RegularFile, key: str, names: list[str]) -> str:
    """The one that is asked for; of a file of one, that."""
    if key not in names and (key or len(names) != 1):
        raise _no_such(file.name, "tensor", key, names)
    return key or names[0]


def _table(file: RegularFile, columns: str, reading: Reading) -> np.ndarray:
    data = read_open_file(file, reading.budget)
    try:
        text = data.decode(_BOMS.get(data[:2], "utf-8-sig"))
    except UnicodeDecodeError:
        raise _error(f"{file.name} is not UTF-8 text", "save it as CSV in UTF-8") from None
    separator = "\t" if Path(file.name).suffix.lower() == ".tsv" else ""
    rules = TableRules(file.name, columns, separator, reading.dtype, reading.allow_nan)
    return read_table(text, rules, reading.budget)


def _no_such(path: str, what: str, key: str, keys: list[str]) -> GradstepError:
    if key or not keys:
        hint = instead(key, keys) or "name another file"
        return _error(f"{path} has no {what} named '{key}'", hint)
    hint = f"write @{path}:{keys[0]}; {list_more(keys)}"
    return GradstepError(f"{path} holds several {what}s", kind=USAGE, hint=hint)


def _error(message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=hint)
