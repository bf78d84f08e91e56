"""Checkpoints of TensorFlow's first version: tables of slices, with their values beside the names.

`model.ckpt-120` is one; of a Saver that was sharded, all of `model.ckpt-00000-of-00002` and so on
are. The messages are those of tensorflow/core/util/saved_tensor_slice.proto (Apache 2.0).
"""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.file_errors import inside
from gradstep.core.io.tensorflow.bundle_entries import read_extents, read_sizes
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.io.tensorflow.joined_slices import Extents, join_slices, misfit
from gradstep.core.io.tensorflow.ordered_code import slice_key
from gradstep.core.io.tensorflow.packed_values import packed_values
from gradstep.core.io.tensorflow.reader_versions import CHECKPOINT, require_readable
from gradstep.core.io.tensorflow.sorted_table import FOOTER, MAGIC, damaged, read_table
from gradstep.core.io.tensorflow.tensor_bundle import numpy_type, tensor_size
from gradstep.core.ops.formats.protobuf import length_fields

_SHARD = re.compile(r"(.*)-(?:\d{5}|\?{5})-of-(\d{5})")
_DATA, _PROTO = 2, 3  # fields: a slice in what is saved of one, and its values in that


@dataclass(frozen=True)
class _Saved:
    """number: of the element type, as TensorFlow counts them."""

    number: int
    shape: tuple[int, ...]
    slices: tuple[Extents, ...] = ()


def is_slice_table(path: str | os.PathLike[str]) -> bool:
    """Whether a path names such a checkpoint: a table that is no index, or the parts of one."""
    return any(_is_table(each) for each in _files(os.fspath(path))[:1])


def _is_table(path: str) -> bool:
    try:
        with RegularFile(path) as file:
            return ends_table(file)
    except (OSError, ValueError):
        return False


def ends_table(file: RegularFile) -> bool:
    """Whether the last bytes are those of a table."""
    return file.size >= FOOTER and file.at(file.size - len(MAGIC), len(MAGIC)) == MAGIC


def _files(path: str) -> list[str]:
    """That file, or all that it is a part of."""
    if (found := _SHARD.fullmatch(path)) is not None:
        return [f"{found[1]}-{number:05d}-of-{found[2]}" for number in range(int(found[2]))]
    parts = sorted(glob.glob(f"{glob.escape(path)}-00000-of-[0-9][0-9][0-9][0-9][0-9]"))
    return _files(parts[-1]) if parts and not os.path.exists(path) else [path]


@dataclass(eq=False)
class SliceTables:
    """path: of the file, of one of its parts, or what the parts' names begin with."""

    path: str
    budget: Budget
    _saved: dict[str, _Saved] = field(default_factory=dict)
    _entries: dict[bytes, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises GradstepError: FileError, OverBudgetError."""
        for file in _files(self.path):
            try:
                self._add(read_table(read_file(file, self.budget), self.budget))
            except GradstepError as error:
                raise inside(file, error) if file not in error.message else error from None

    def _add(self, table: dict[bytes, bytes]) -> None:
        for name, saved in _described(table.pop(b"", b"")):
            before = self._saved.setdefault(name, replace(saved, slices=()))
            if (before.number, before.shape) != (saved.number, saved.shape):
                raise misfit(name)
            self._saved[name] = replace(saved, slices=(*before.slices, *saved.slices))
        self._entries |= table

    @property
    def names(self) -> list[str]:
        return [*self._saved]

    def type_of(self, name: str) -> tuple[np.dtype, tuple[int, ...]]:
        """Element type and shape of a tensor, as `read` gives it. Raises GradstepError where there
        is none, or none that NumPy has."""
        saved = self._named(name)
        try:
            return numpy_type(saved.number, name), saved.shape
        except GradstepError as error:
            raise self._said(error) from None

    def read(self, name: str) -> np.ndarray:
        """A tensor; texts as bytes. Raises GradstepError."""
        try:
            return self._joined(name)
        except GradstepError as error:
            raise self._said(error) from None

    def _joined(self, name: str) -> np.ndarray:
        saved = self._named(name)
        dtype = numpy_type(saved.number, name)
        self.budget.take(tensor_size(saved.shape, dtype, name), f"the tensor '{name}'")

        def find(extents: Extents) -> bytes | None:
            return self._entries.get(slice_key(name.encode(), extents))

        def read(part: bytes, _: Extents, shape: tuple[int, ...]) -> np.ndarray:
            return _values(part, dtype, name, shape)

        return join_slices(name, np.empty(saved.shape, dtype), saved.slices, find, read)

    def _named(self, name: str) -> _Saved:
        if name not in self._saved:
            raise GradstepError(
                f"{self.path} has no tensor named '{name}'",
                kind="FileError",
                hint=instead(name, self._saved) or "name another file",
            )
        return self._saved[name]

    def _said(self, error: GradstepError) -> GradstepError:
        return error if self.path in error.message else inside(self.path, error)


def _described(data: bytes) -> Iterator[tuple[str, _Saved]]:
    """What a table says that it holds. Raises GradstepError (FileError)."""
    if not data:
        raise damaged("does not say what it holds")
    proto = message("SavedTensorSlices")()
    parse(proto, data)
    require_readable(proto.meta.versions, CHECKPOINT, "it")
    for tensor in proto.meta.tensor:
        slices = tuple(map(read_extents, tensor.slice))
        yield tensor.name, _Saved(tensor.type, read_sizes(tensor.shape), slices)


def _values(entry: bytes, dtype: np.dtype, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Those of one slice. Raises GradstepError where there are more or fewer."""
    try:
        (data,) = length_fields(entry, _DATA)
        (proto,) = length_fields(data, _PROTO)
        values = packed_values(proto, DType.of(dtype))
    except ValueError:
        raise damaged(f"is damaged: the values of '{name}' are none") from None
    if len(values) != math.prod(shape):
        raise damaged(f"gives '{name}', {list(shape)}, {len(values)} values")
    return values.reshape(shape)
