"""Checkpoints as NumPy's files: `step-120.npz`, each variable under its name, and `best.npz`.

`numpy.load` reads them; what step they are of stands in a text beside the arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

from gradstep.core.errors import GradstepError
from gradstep.core.io.checkpoints.training_state import (
    About,
    Checkpoint,
    about_bytes,
    checkpoint_of,
    read_about,
)
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native import npy
from gradstep.core.io.native.zip_archive import Archive, pack

_ABOUT, _ARRAY = "gradstep.json", ".npy"
_NAME = re.compile(r"step-(\d{1,15})\.npz")


class NpzCheckpoints:
    """Those in a folder."""

    def __init__(self, folder: Path, budget: Budget) -> None:
        self.folder, self.best = folder, folder / "best.npz"
        self._limit = budget.limit

    def path_of(self, step: int) -> Path:
        return self.folder / f"step-{step}.npz"

    def by_step(self) -> dict[int, Path]:
        paths = self.folder.iterdir() if self.folder.is_dir() else ()
        named = ((_NAME.fullmatch(path.name), path) for path in paths)
        return {int(match[1]): path for match, path in named if match}

    def writer(self, checkpoint: Checkpoint) -> Callable[[Path], None]:
        data = _packed(checkpoint)
        return lambda path: replace_file(path, data)

    def read(self, path: Path) -> Checkpoint:
        archive, about = self._open(path)
        try:
            arrays = {variable_name(n): archive.tensor(n) for n in archive if n.endswith(_ARRAY)}
        except GradstepError as error:
            raise inside(str(path), error) from None
        return checkpoint_of(about, arrays)

    def loss_of_best(self) -> float | None:
        return self._open(self.best)[1].loss if self.best.exists() else None

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def note_steps(self) -> None:
        """Their names say it."""

    def _open(self, path: Path) -> tuple[Archive, About]:
        try:
            budget = Budget(self._limit)
            archive = Archive(read_file(path, budget), budget, "a checkpoint", "use another one")
            return archive, read_about(archive.json(_ABOUT))
        except GradstepError as error:
            raise inside(str(path), error) from None


def variable_name(member: str) -> str:
    """Whose array a part of the file is."""
    return unquote(member.removesuffix(_ARRAY))


def _packed(checkpoint: Checkpoint) -> bytes:
    members = {_ABOUT: about_bytes(checkpoint)}
    for name, array in checkpoint.variables.items():
        if array.dtype == object:
            raise GradstepError(
                f"a checkpoint of NumPy's holds numbers, and '{name}' holds text",
                kind="UnimplementedError",
                node=name,
                hint="write TensorFlow's: --checkpoint FOLDER/model.ckpt; or save with --out",
            )
        members[_member(name)] = npy.to_bytes(array)
    return pack(members)


def _member(name: str) -> str:
    """A part's name, which may not lead out of the file."""
    return quote(name, safe="/-_.").replace("..", "%2E%2E") + _ARRAY
