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
            return _dtype(entry, name), entry.shape
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
        dtype = _dtype(entry, name)
        self._budget.take(entry_size(entry, dtype, name), f"the tensor '{name}'")
        whole, there = np.empty(entry.shape, dtype), np.zeros(entry.shape, np.bool_)
        for extents in entry.slices:
            found = self._entries.get(slice_key(self._keys[name], extents))
            if found is None:
                raise damaged(f"lacks the part of '{name}' at {_words(extents)}")
            part, place = read_entry(found), _place(extents, entry.shape)
            if part.number != entry.number or place is None or there[place].any():
                raise damaged(f"has parts of '{name}' that do not fit together")
            if part.shape != there[place].shape or part.slices:
                raise damaged(f"has a part of '{name}' of another shape at {_words(extents)}")
            whole[place], there[place] = self._read(name, part), True
        if not there.all():
            raise damaged(f"lacks parts of '{name}'")
        return whole

    def _read(self, name: str, entry: Entry) -> np.ndarray:
        dtype, data = _dtype(entry, name), self._bytes(name, entry)
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
        dtype = _dtype(entry, name)
        needed, texts = entry_size(entry, dtype, name), math.prod(entry.shape)
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
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from None

    def _said(self, error: GradstepError) -> GradstepError:
        """An error with the file in front, where that is not in it."""
        return error if self._prefix in error.message else inside(self.path, error)


def entry_size(entry: Entry, dtype: np.dtype, name: str) -> int:
    """Bytes of a tensor of that type. Raises GradstepError for what has no size."""
    try:
        return array_bytes(entry.shape, dtype.itemsize)
    except ValueError as error:
        raise damaged(f"cannot hold '{name}': {error}") from None


def _dtype(entry: Entry, name: str) -> np.dtype:
    """NumPy's, of an element type. Raises GradstepError where it has none."""
    try:
        found = dtype_of(entry.number)
    except KeyError:
        found = DType.VARIANT
    if found in _OBJECTS:
        raise GradstepError(
            f"holds '{name}' as {type_name(entry.number)}, which NumPy lacks",
            kind="FileError",
            hint="save it as float32",
        )
    return found.numpy


def _place(
    extents: tuple[tuple[int, int], ...], shape: tuple[int, ...]
) -> tuple[slice, ...] | None:
    """Where a part lies in the whole; None for nowhere."""
    if len(extents) != len(shape):
        return None
    ends = [size if n < 0 else at + n for (at, n), size in zip(extents, shape, strict=True)]
    inside = (0 <= at <= end <= n for (at, _), end, n in zip(extents, ends, shape, strict=True))
    starts = (at for at, _ in extents)
    return tuple(map(slice, starts, ends)) if all(inside) else None


def _words(extents: tuple[tuple[int, int], ...]) -> str:
    return "[" + ", ".join(f"{at}:{at + n}" if n >= 0 else ":" for at, n in extents) + "]"
