"""Checkpoints while a training goes on, and going on from one: --checkpoint and --resume."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gradstep.core.cli.arguments.shared_arguments import budget, require_with
from gradstep.core.cli.command_table import KEPT
from gradstep.core.cli.runs.recorded_data import record_data
from gradstep.core.cli.runs.training_steps import Training
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.errors import GradstepError
from gradstep.core.io.checkpoint_files import CheckpointFolder
from gradstep.core.io.checkpoints.data_record import require_same_data
from gradstep.core.io.checkpoints.training_state import Checkpoint

_OF_CHECKPOINTS = ("resume", "checkpoint_every", "keep")
_TIMES = 10  # that a checkpoint is written where --checkpoint-every says nothing


class TrainingCheckpoints:
    """Of one training. resumed: the step that it went on from; 0 for none. newest: the path of the
    last one; None before the first."""

    def __init__(
        self, args: argparse.Namespace, training: Training, data: OpenedData | None
    ) -> None:
        self._folder = CheckpointFolder(args.checkpoint, args.keep or KEPT, budget(args))
        self._every = args.checkpoint_every or max(1, args.steps // _TIMES)
        self._training, self._data = training, data
        self._of = -1  # the step of the newest
        self.newest: Path | None = None
        self.resumed = self._resume() if args.resume else 0
        training.state()  # what cannot be kept, or where, is said before anything has run
        self._folder.make()

    @property
    def resumed_with(self) -> str:
        """The batch that it went on with, in words; "" without data."""
        return "" if self._data is None else f", with {self._data.words_at(self.resumed)}"

    def note(self, step: int, losses: Mapping[str, np.ndarray | None], is_last: bool) -> None:
        """A step has been made. Raises GradstepError (FileError)."""
        if step != self._of and (is_last or step % self._every == 0):
            loss = next(iter(losses.values()), None)
            number = np.nan if loss is None or loss.size != 1 else float(loss.real.item())
            data = record_data(self._data, step)
            self.newest = self._folder.add(Checkpoint(step, number, self._training.state(), data))
            self._of = step

    def _resume(self) -> int:
        found = self._folder.newest()
        if found is None:
            return 0
        try:
            if found.data is not None:
                require_same_data(found.data, record_data(self._data, found.step))
            self._training.resume(found.step, found.variables)
        except GradstepError as error:
            error.message = f"{self._folder.path}: {error.message}"
            raise
        self._of = found.step
        return found.step


def read_checkpoints(
    args: argparse.Namespace, training: Training, data: OpenedData | None
) -> TrainingCheckpoints | None:
    """What --checkpoint asks for; None for nothing. Raises GradstepError, before anything has
    run."""
    if args.checkpoint is not None:
        return TrainingCheckpoints(args, training, data)
    require_with(args, "--checkpoint", _OF_CHECKPOINTS, "say --checkpoint DIR")
    return None
