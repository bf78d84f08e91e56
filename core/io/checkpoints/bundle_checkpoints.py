"""Checkpoints as TensorFlow keeps them: `model.ckpt-120`, `model.ckpt-best`, and the list of them.

A Saver of a graph with the same variables restores them; what step they are of is in the name, and
with the loss in a text among the tensors, which no variable can be called as. What is in parts
(`v/part_0`) is there as a whole, too, which is what a Saver takes the parts from. Those that
TensorFlow wrote are read as well, and never removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.checkpoints.training_state import (
    About,
    Checkpoint,
    about_bytes,
    checkpoint_of,
    read_about,
)
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.tensorflow.bundle_writer import write_bundle
from gradstep.core.io.tensorflow.checkpoint_state import write_state
from gradstep.core.io.tensorflow.partitioned_variables import joined_parts, whole_names
from gradstep.core.io.tensorflow.tensor_bundle import INDEX, TensorBundle, data_name

SUFFIX = ".ckpt"
ABOUT = "_GRADSTEP_TRAINING"  # no operation's name begins so
_STEP = r"-(\d{1,15})" + re.escape(INDEX)


class BundleCheckpoints:
    """prefix: `FOLDER/NAME.ckpt`."""

    def __init__(self, prefix: Path, budget: Budget) -> None:
        self.folder, self.best = prefix.parent, _after(prefix, "best")
        self._prefix, self._limit = prefix, budget.limit

    def path_of(self, step: int) -> Path:
        return _after(self._prefix, str(step))

    def by_step(self) -> dict[int, Path]:
        """By their indexes, which come last and go first."""
        names = re.compile(re.escape(self._prefix.name) + _STEP)
        paths = self.folder.iterdir() if self.folder.is_dir() else ()
        steps = [match[1] for path in paths if (match := names.fullmatch(path.name))]
        return {int(step): _after(self._prefix, step) for step in steps}

    def writer(self, checkpoint: Checkpoint) -> Callable[[Path], None]:
        about, variables = np.array(about_bytes(checkpoint), object), checkpoint.variables
        tensors = {**variables, **joined_parts(variables), ABOUT: about}
        return lambda path: write_bundle(str(path), tensors)

    def read(self, path: Path) -> Checkpoint:
        bundle = self._open(path)
        about = _about(bundle)
        step = int(path.name.rpartition("-")[2])
        left_out = {*whole_names(bundle.names), ABOUT}
        arrays = {name: bundle.read(name) for name in bundle.names if name not in left_out}
        return checkpoint_of(about or About(0, step), arrays)

    def loss_of_best(self) -> float | None:
        if not Path(f"{self.best}{INDEX}").exists():
            return None
        about = _about(self._open(self.best))
        return None if about is None else about.loss

    def remove(self, path: Path) -> None:
        """Let go of one that a training here wrote."""
        with suppress(GradstepError, OSError):
            if ABOUT in self._open(path).names:
                Path(f"{path}{INDEX}").unlink()
                Path(data_name(str(path), 0, 1)).unlink()

    def note_steps(self) -> None:
        write_state(self.folder, [path.name for _, path in sorted(self.by_step().items())])

    def _open(self, path: Path) -> TensorBundle:
        return TensorBundle(path, Budget(self._limit))


def _after(prefix: Path, what: str) -> Path:
    return prefix.with_name(f"{prefix.name}-{what}")


def _about(bundle: TensorBundle) -> About | None:
    """What a training here has written in it; None for one that TensorFlow wrote."""
    if ABOUT not in bundle.names:
        return None
    said = bundle.read(ABOUT)
    try:
        return read_about(said.item() if said.dtype == object and said.ndim == 0 else b"")
    except GradstepError as error:
        raise inside(bundle.path, error) from None
