"""What is written down of a sweep: what was asked for, and a row for each run that is over."""

from __future__ import annotations

import math

import msgspec

from gradstep.core.protocol.message_parts import ErrorInfo
from gradstep.core.sweep.run_list import RunSpec
from gradstep.core.sweep.setting_syntax import Setting

VERSION = 1  # of the folder's format
LOST = "WorkerLost"  # kind of the error of a run whose process ended again and again


class SweepRecord(msgspec.Struct, frozen=True):
    """source: the file that was named, for people. arguments: those of training, as the command
    line has them. data: whether rows are fed, so that the window cannot make the steps again."""

    version: int
    source: str
    arguments: list[str]
    settings: list[Setting]
    runs: list[RunSpec]
    steps: int
    data: bool = False


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a run.

    steps: that were made; loss: after the last, best: the least, in step `best_step`; None where
    there is none. validation: of the rows held back, at the end. seconds: that it took. ended: what
    ended it before all steps were made. error: why it failed. tries: how often it was begun, where
    processes were lost.
    """

    number: int
    values: dict[str, str]
    seed: int | None = None
    steps: int = 0
    loss: float | None = None
    best: float | None = None
    best_step: int = 0
    validation: float | None = None
    seconds: float = 0.0
    ended: str = ""
    error: ErrorInfo | None = None
    tries: int = 1

    @property
    def is_final(self) -> bool:
        """Whether it would come out the same again."""
        return self.error is None or self.error.type != LOST

    @property
    def shown_loss(self) -> float:
        """To be compared and sorted by; infinite for a run that failed."""
        return math.inf if self.error is not None or self.loss is None else self.loss


def best_of(rows: list[RunRow]) -> RunRow | None:
    """The run whose loss is the least in the end; None where none came to its end."""
    known = [row for row in rows if math.isfinite(row.shown_loss)]
    return min(known, key=lambda row: (row.shown_loss, row.number), default=None)
