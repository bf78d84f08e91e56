"""What a training is after so many steps, and what a form of keeping it has to do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.checkpoints.data_record import DataRecord

_VERSION = 1


class About(msgspec.Struct, forbid_unknown_fields=False):
    """What is written beside the variables. version: of that; loss: None where there was none, or
    it was not finite; data: None where nobody said, as earlier ones did not."""

    version: int
    step: int
    loss: float | None = None
    data: DataRecord | None = None


@dataclass(frozen=True)
class Checkpoint:
    """What a training is after so many steps. loss: the last one; NaN where there is none.
    variables: all that the next step starts from, slots and draws of random numbers included.
    data: what it was trained on, and how far; None where nobody said."""

    step: int
    loss: float
    variables: Mapping[str, np.ndarray]
    data: DataRecord | None = None


class Form(Protocol):
    """How checkpoints are kept. folder: in which they are; best: the path of the one of the lowest
    loss. All raise GradstepError: FileError, or OverBudgetError."""

    folder: Path
    best: Path

    def path_of(self, step: int) -> Path:
        """What the checkpoint after so many steps is called."""

    def by_step(self) -> dict[int, Path]:
        """Those that there are."""

    def writer(self, checkpoint: Checkpoint) -> Callable[[Path], None]:
        """What writes it, to one path or to several."""

    def read(self, path: Path) -> Checkpoint:
        """One that there is."""

    def loss_of_best(self) -> float | None:
        """None where there is no best one, or it had no loss."""

    def remove(self, path: Path) -> None:
        """Let go of one."""

    def note_steps(self) -> None:
        """Some came or went."""


def about_bytes(checkpoint: Checkpoint) -> bytes:
    """Step, loss and data as JSON."""
    loss = checkpoint.loss if math.isfinite(checkpoint.loss) else None
    return msgspec.json.encode(About(_VERSION, checkpoint.step, loss, checkpoint.data))


def read_about(text: bytes | bytearray) -> About:
    """The inverse. Raises GradstepError (FileError)."""
    try:
        about = msgspec.json.decode(text, type=About)
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


def checkpoint_of(about: About, variables: Mapping[str, np.ndarray]) -> Checkpoint:
    """What was read."""
    loss = math.nan if about.loss is None else about.loss
    return Checkpoint(about.step, loss, variables, about.data)
