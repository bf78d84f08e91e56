"""Tensors in a checkpoint of TensorFlow: an index, and files of data beside it.

`model.ckpt-120.index` says what there is and where in `model.ckpt-120.data-00000-of-00001` it lies.
Every place is checked against the file before memory is taken, and every byte by a checksum.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, array_bytes
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.checksum import crc32c, masked
from gradstep.core.io.disk.file_bytes import read_file, unreadable
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native.tensor_json import objects
from gradstep.core.io.tensorflow.bundle_entries import HEADER, Entry, read_entry, read_header
from gradstep.core.io.tensorflow.bundle_texts import read_texts
from gradstep.core.io.tensorflow.graphdef_proto import dtype_of, type_name
from gradstep.core.io.tensorflow.joined_slices import Extents, join_slices, misfit, slice_words
from gradstep.core.io.tensorflow.ordered_code import SLICE, slice_key
from gradstep.core.io.tensorflow.sorted_table import damaged, read_table

INDEX = ".index"
_TEXT = 60  # bytes that a text takes besides its own
_OBJECTS = (DType.RESOURCE, DType.VARIANT)


def prefix_of(path: str | os.PathLike[str]) -> str:
    """What the names of a checkpoint's files begin with, of that or of its index."""
    return os.fspath(path).removesuffix(INDEX)


def data_name(prefix: str, shard: int, shards: int) -> str:
    """The path of a file of data."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class TensorBundle:
    """path: what the files' names begin with, or the index. The index is read, and nothing else."""

    def __init__(self, path: str | os.PathLike[str], budget: Budget | None = None) -> None:
        """Raises GradstepError: FileError, OverBudgetError."""
        self._prefix, self._budget = prefix_of(path), budget or Budget()
        self.path = self._prefix + INDEX
        try:
            table = read_table(read_file(self.path, self._budget), self._budget)
            if HEADER not in table:
                raise damaged("says nothing of its data")
            self._shards = read_header(table.pop(HEADER))
        except GradstepError as error:
            raise self._said(error) from None
        self._entries: Mapping[bytes, bytes] = table
        keys = (key for key in table if not key.startswith(SLICE))
        self._keys = {key.decode("utf-8", "backslashreplace"): key for key in keys}

    @property
    def names(self) -> list[str]:
        return [*self._keys]

    def type_of(self, name: str) -> tuple[np.dtype, tuple[int, ...]]:
        """Element type and shape of a tensor, as `read` gives it. Raises GradstepError where there
        is none, or none that NumPy has."""
        try:
            entry = self._entry(name)
            return numpy_type(entry.number, name), entry.shape
        except GradstepError as error:
            raise self._said(error) from None

    def read(self, name: str) -> np.ndarray:
        """A tensor; texts as bytes. Raises GradstepError."""
        try:
            entry = self._entry(name)
            return self._joined(name, entry) if entry.slices else self._read(name, entry)
        except GradstepError as error:
            raise self._said(error) from None

    def _entry(self, name: str) -> Entry:
        if name not in self._keys:
            raise GradstepError(
                f"has no tensor named '{name}'",
                kind="FileError",
                hint=instead(name, self._keys) or "name another file",
            )
        return read_entry(self._entries[self._keys[name]])

    def _joined(self, name: str, entry: Entry) -> np.ndarray:
        """A tensor that was saved in parts, which have to be all of it."""
        dtype = numpy_type(entry.number, name)
        self._budget.take(tensor_size(entry.shape, dtype, name), f"the tensor '{name}'")

        def find(extents: Extents) -> Entry | None:
            found = self._entries.get(slice_key(self._keys[name], extents))
            part = None if found is None else read_entry(found)
            if part is not None and part.number != entry.number:
                raise misfit(name)
            return part

        def read(part: Entry, extents: Extents, shape: tuple[int, ...]) -> np.ndarray:
            if part.shape != shape or part.slices:
                raise damaged(f"has a part of '{name}' of another shape at {slice_words(extents)}")
            return self._read(name, part)

        return join_slices(name, np.empty(entry.shape, dtype), entry.slices, find, read)

    def _read(self, name: str, entry: Entry) -> np.ndarray:
        dtype, data = numpy_type(entry.number, name), self._bytes(name, entry)
        if dtype.hasobject:
            texts, crc = read_texts(data, math.prod(entry.shape))
        else:
            texts, crc = [], crc32c(data)
        if masked(crc) != entry.checksum:
            raise damaged(f"is damaged: '{name}' has another checksum")
        if dtype.hasobject:
            return objects(texts, entry.shape)
        return np.frombuffer(data, dtype).reshape(entry.shape)

    def _bytes(self, name: str, entry: Entry) -> bytes:
        """Those of one entry, as many as its shape needs."""
        dtype = numpy_type(entry.number, name)
        needed, texts = tensor_size(entry.shape, dtype, name), math.prod(entry.shape)
        if dtype.hasobject and entry.size >= texts:  # a length takes a byte or more
            needed = entry.size
        if needed != entry.size or entry.offset < 0 or not 0 <= entry.shard < self._shards:
            raise damaged(
                f"gives '{name}', {type_name(entry.number)}{list(entry.shape)}, {entry.size} bytes"
            )
        self._budget.take(needed, f"the tensor '{name}'")
        if dtype.hasobject:
            self._budget.take(_TEXT * texts, f"the tensor '{name}'")
        return self._from_data(name, entry)

    def _from_data(self, name: str, entry: Entry) -> bytes:
        path = data_name(self._prefix, entry.shard, self._shards)
        try:
            with RegularFile(path) as file:
                if entry.offset + entry.size > file.size:
                    raise damaged(f"says that '{name}' lies behind the end of {Path(path).name}")
                return file.at(entry.offset, entry.size)
        except FileNotFoundError:
            count = "one file" if self._shards == 1 else f"{self._shards} files"
            raise GradstepError(
                f"cannot open {path}: there is no such file, and the checkpoint has {count}",
                kind="FileError",
                hint=f"put it beside {Path(self.path).name}, or use another copy of the checkpoint",
            ) from None
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from None

    def _said(self, error: GradstepError) -> GradstepError:
        """An error with the file in front, where that is not in it."""
        return error if self._prefix in error.message else inside(self.path, error)


def tensor_size(shape: tuple[int, ...], dtype: np.dtype, name: str) -> int:
    """Bytes of a tensor of that type. Raises GradstepError for what has no size."""
    try:
        return array_bytes(shape, dtype.itemsize)
    except ValueError as error:
        raise damaged(f"cannot hold '{name}': {error}") from None


def numpy_type(number: int, name: str) -> np.dtype:
    """NumPy's, of an element type's number. Raises GradstepError where it has none."""
    try:
        found = dtype_of(number)
    except KeyError:
        found = DType.VARIANT
    if found in _OBJECTS:
        raise GradstepError(
            f"holds '{name}' as {type_name(number)}, which NumPy lacks",
            kind="FileError",
            hint="save it as float32",
        )
    return found.numpy
