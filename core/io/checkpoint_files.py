"""Checkpoints of a training: files of arrays in a folder, of which the newest and the best stay.

`step-120.npz` holds each variable under its name, as `numpy.load` reads it, and what step it is of;
`best.npz` is the one of the lowest loss.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native import npy
from gradstep.core.io.native.zip_archive import Archive, pack

_VERSION = 1
_ABOUT, _ARRAY = "gradstep.json", ".npy"
_NAME = re.compile(r"step-(\d{1,15})\.npz")
_BEST = "best.npz"


class _About(msgspec.Struct, forbid_unknown_fields=False):
    """version: of this format; loss: None where there was none, or it was not finite."""

    version: int
    step: int
    loss: float | None = None


@dataclass(frozen=True)
class Checkpoint:
    """What a training is after so many steps. loss: the last one; NaN where there is none.
    variables: all that the next step starts from, slots and draws of random numbers included."""

    step: int
    loss: float
    variables: Mapping[str, np.ndarray]


class CheckpointFolder:
    """kept: how many of the newest stay, beside the best. Nothing is written before `add`."""

    def __init__(self, path: str | Path, kept: int, budget: Budget | None = None) -> None:
        self.path, self._kept = Path(path), kept
        self._budget = budget
        self._lowest: float | None = None  # loss; None: not looked yet

    def add(self, checkpoint: Checkpoint) -> Path:
        """Write one, then let go of what is too old. Raises GradstepError (FileError)."""
        data = _packed(checkpoint)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GradstepError(
                f"cannot make the folder {self.path}: {error.strerror}",
                kind="FileError",
                hint="name another folder",
            ) from None
        written = self.path / f"step-{checkpoint.step}.npz"
        replace_file(written, data)
        if checkpoint.loss < self._lowest_loss():
            replace_file(self.path / _BEST, data)
            self._lowest = checkpoint.loss
        found = sorted(self._by_step().items())
        for step, path in found[: max(0, len(found) - self._kept)]:
            if step < checkpoint.step:  # one of a training that went further is not ours to lose
                path.unlink(missing_ok=True)
        return written

    def newest(self) -> Checkpoint | None:
        """Of the most steps; None where there is none. Raises GradstepError: FileError, or
        OverBudgetError."""
        found = self._by_step()
        return self._read(found[max(found)]) if found else None

    def _by_step(self) -> dict[int, Path]:
        """The files, by the step that they are of."""
        paths = self.path.iterdir() if self.path.is_dir() else ()
        named = ((_NAME.fullmatch(path.name), path) for path in paths)
        return {int(match[1]): path for match, path in named if match}

    def _lowest_loss(self) -> float:
        if self._lowest is None:
            best = self.path / _BEST
            loss = self._open(best)[1].loss if best.exists() else None
            self._lowest = math.inf if loss is None else loss
        return self._lowest

    def _read(self, path: Path) -> Checkpoint:
        archive, about = self._open(path)
        members = [name for name in archive if name.endswith(_ARRAY)]
        try:
            arrays = {unquote(n.removesuffix(_ARRAY)): archive.tensor(n) for n in members}
        except GradstepError as error:
            raise inside(str(path), error) from None
        return Checkpoint(about.step, math.nan if about.loss is None else about.loss, arrays)

    def _open(self, path: Path) -> tuple[Archive, _About]:
        budget = self._budget or Budget()
        try:
            archive = Archive(read_file(path, budget), budget)
            return archive, _about(archive)
        except GradstepError as error:
            raise inside(str(path), error) from None


def _packed(checkpoint: Checkpoint) -> bytes:
    loss = checkpoint.loss if math.isfinite(checkpoint.loss) else None
    members = {_ABOUT: msgspec.json.encode(_About(_VERSION, checkpoint.step, loss))}
    for name, array in checkpoint.variables.items():
        if array.dtype == object:
            raise GradstepError(
                f"a checkpoint holds numbers, and '{name}' holds text",
                kind="UnimplementedError",
                node=name,
                hint="leave --checkpoint out, and save with --out",
            )
        members[_member(name)] = npy.to_bytes(array)
    return pack(members)


def _member(name: str) -> str:
    """A part's name, which may not lead out of the file."""
    return quote(name, safe="/-_.").replace("..", "%2E%2E") + _ARRAY


def _about(archive: Archive) -> _About:
    try:
        about = msgspec.json.decode(archive.json(_ABOUT), type=_About)
    except msgspec.MsgspecError as error:
        raise GradstepError(
            f"is no checkpoint ({error})", kind="FileError", hint="take it out of the folder"
        ) from None
    if about.version > _VERSION or about.step < 0:
        raise GradstepError(
            f"is a checkpoint of version {about.version}, and this program reads {_VERSION}",
            kind="FileError",
            hint="use a newer Gradstep",
        )
    return about
