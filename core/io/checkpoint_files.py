"""Checkpoints of a training: files in a folder, of which the newest and the best stay.

A folder gets NumPy's files (`gradstep.core.io.checkpoints.npz_checkpoints`), `FOLDER/NAME.ckpt` the
checkpoints of TensorFlow (`gradstep.core.io.checkpoints.bundle_checkpoints`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.io.checkpoints.bundle_checkpoints import SUFFIX, BundleCheckpoints
from gradstep.core.io.checkpoints.npz_checkpoints import NpzCheckpoints
from gradstep.core.io.checkpoints.training_state import Checkpoint, Form
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.tensor_bundle import INDEX, prefix_of


class CheckpointFolder:
    """path: a folder, or what the names of TensorFlow's files begin with. kept: how many of the
    newest stay, beside the best."""

    def __init__(self, path: str | Path, kept: int, budget: Budget | None = None) -> None:
        """Raises GradstepError (UsageError) where `path` is a checkpoint itself."""
        self.path, self._kept = Path(path), kept
        self._form = _form(self.path, budget or Budget())
        self._lowest: float | None = None  # loss; None: not looked yet

    def make(self) -> None:
        """Make the folder, before what it is to keep takes hours. Raises GradstepError
        (FileError)."""
        _make(self._form.folder)

    def add(self, checkpoint: Checkpoint) -> Path:
        """Write one, then let go of what is too old. Raises GradstepError (FileError)."""
        form, write = self._form, self._form.writer(checkpoint)
        _make(form.folder)
        written = form.path_of(checkpoint.step)
        write(written)
        if checkpoint.loss < self._lowest_loss():
            write(form.best)
            self._lowest = checkpoint.loss
        found = sorted(form.by_step().items())
        for step, path in found[: max(0, len(found) - self._kept)]:
            if step < checkpoint.step:  # one of a training that went further is not ours to lose
                form.remove(path)
        form.note_steps()
        return written

    def newest(self) -> Checkpoint | None:
        """Of the most steps; None where there is none. Raises GradstepError: FileError, or
        OverBudgetError."""
        paths = [path for _, path in sorted(self._form.by_step().items(), reverse=True)]
        try:
            return self._form.read(paths[0]) if paths else None
        except GradstepError as error:
            if error.kind == "FileError":
                error.hint = self._way_on(paths) or error.hint
            raise

    def _way_on(self, paths: Sequence[Path]) -> str:
        """Which is the first of these that can be read, and which before it are in the way; "" for
        none. paths: the newest, which cannot be read, first."""
        for number, path in enumerate(paths[1:], 1):
            with suppress(GradstepError):
                self._form.read(path)
                bad = ", ".join(map(_files, paths[:number]))
                return f"take {bad} out of the folder to go on from {path.name}"
        return ""

    def _lowest_loss(self) -> float:
        if self._lowest is None:
            loss = self._form.loss_of_best()
            self._lowest = math.inf if loss is None else loss
        return self._lowest


def _form(path: Path, budget: Budget) -> Form:
    prefix = Path(prefix_of(path))
    if Path(f"{prefix}{INDEX}").exists() and not path.is_dir():
        raise GradstepError(
            f"{path} is a checkpoint, and no folder of them",
            kind=USAGE,
            hint=f"--restore {prefix} begins with its values; to go on among others like it, name "
            f"{prefix.with_name(prefix.name.rpartition('-')[0] or f'model{SUFFIX}')}",
        )
    if path.suffix == SUFFIX and not path.is_dir():
        return BundleCheckpoints(path, budget)
    return NpzCheckpoints(path, budget)


def _files(path: Path) -> str:
    """Of a checkpoint, by their names."""
    return path.name if path.suffix == ".npz" else f"{path.name}.*"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradstepError(
            f"cannot make the folder {folder}: {error.strerror}",
            kind="FileError",
            hint="name another folder",
        ) from None
