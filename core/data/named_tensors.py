"""Files of several tensors by name, whichever they are: checkpoints, .npz, .safetensors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np

from gradstep.core.data.safetensors_file import SafetensorsFile, is_safetensors
from gradstep.core.errors import GradstepError
from gradstep.core.io.checkpoints.npz_checkpoints import NpzCheckpoints, variable_name
from gradstep.core.io.disk.file_bytes import read_open_file, unreadable
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native.zip_archive import Archive
from gradstep.core.io.tensorflow.checkpoint_state import newest_in
from gradstep.core.io.tensorflow.object_names import object_names
from gradstep.core.io.tensorflow.slice_tables import SliceTables, is_slice_table
from gradstep.core.io.tensorflow.tensor_bundle import INDEX, TensorBundle, prefix_of

_HEAD, _ZIP = 16, b"PK"
_OWN = "_"  # what a checkpoint says of itself begins so, and no operation's name does


class NamedTensors(Protocol):
    """path: for messages. names: of the tensors that there are."""

    path: str
    names: list[str]

    def read(self, name: str) -> np.ndarray:
        """Raises GradstepError."""


@contextmanager
def open_tensors(path: Path, budget: Budget) -> Iterator[NamedTensors]:
    """The tensors of a file; of a checkpoint, by what its files' names begin with; of the newest
    one in a folder. To be read inside. Raises GradstepError: FileError, OverBudgetError."""
    found = path
    try:
        if path.is_dir():
            found = _newest(path)
        is_index = found.suffix == INDEX or Path(f"{found}{INDEX}").exists()
        file = None if is_index or is_slice_table(found) else RegularFile(found)
    except (OSError, ValueError) as error:  # already of a name that no file can have
        raise unreadable(found, error) from None
    if file is None:
        yield CheckpointTensors(found, budget)
        return
    with file:
        yield _tensors(file, budget)


def _tensors(file: RegularFile, budget: Budget) -> NamedTensors:
    head = file.at(0, _HEAD)
    if is_safetensors(head, file.size):
        return SafeTensors(file, budget)
    if head.startswith(_ZIP):
        return NpzTensors(file, budget)
    raise GradstepError(
        f"{file.name} holds no tensors by name",
        kind="FileError",
        hint="name a checkpoint (model.ckpt-120), an .npz or a .safetensors file",
    )


def _newest(folder: Path) -> Path:
    """Of a training's, or the one that is there; of a SavedModel that of its variables."""
    found = newest_in(folder)
    steps = NpzCheckpoints(folder, Budget()).by_step()
    indexes = [*folder.glob(f"*{INDEX}"), *folder.glob(f"variables/variables{INDEX}")]
    if found is None and steps:
        found = steps[max(steps)]
    if found is None and len(indexes) == 1:
        found = indexes[0]
    if found is None:
        raise GradstepError(
            f"{folder} has no checkpoints",
            kind="FileError",
            hint="name the folder that --checkpoint named, or a file in it",
        )
    return found


class CheckpointTensors:
    """Of a checkpoint of TensorFlow, of either version; where objects were saved, by what their
    variables are called as well."""

    def __init__(self, path: Path, budget: Budget) -> None:
        kind = SliceTables if is_slice_table(path) and path.suffix != INDEX else TensorBundle
        self._held = kind(os.fspath(path), budget)
        self.path = prefix_of(path)
        self._keys = {name: name for name in self._held.names if not name.startswith(_OWN)}
        called = object_names(self._held)
        for name, key in called.items():
            if key in self._keys:
                del self._keys[key]
                self._keys[name] = key
        self.names = [*self._keys]

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Raises GradstepError where NumPy has no such tensor."""
        return self._held.type_of(self._keys[name])[1]

    def read(self, name: str) -> np.ndarray:
        return self._held.read(self._keys[name])


class NpzTensors:
    """Of an .npz file, which `gradstep train --checkpoint` writes as well."""

    def __init__(self, file: RegularFile, budget: Budget) -> None:
        self.path = file.name
        data = read_open_file(file, budget)
        try:
            self._archive = Archive(data, budget, "an .npz file", "save the arrays again")
        except GradstepError as error:
            raise inside(self.path, error) from None
        self._members = {variable_name(n): n for n in self._archive if n.endswith(".npy")}
        self.names = [*self._members]

    def read(self, name: str) -> np.ndarray:
        try:
            return self._archive.tensor(self._members[name])
        except GradstepError as error:
            raise inside(self.path, error) from None


class SafeTensors:
    """Of a .safetensors file, as long as that is open."""

    def __init__(self, file: RegularFile, budget: Budget) -> None:
        self.path, self._budget = file.name, budget
        self._held = SafetensorsFile(file, budget)
        self.names = self._held.names

    def read(self, name: str) -> np.ndarray:
        try:
            header = self._held.header(name)
            self._budget.take(header.size, f"the tensor '{name}'")
            return self._held.read(header)
        except OSError as error:
            raise unreadable(self.path, error) from None
