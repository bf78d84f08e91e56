"""Histograms of a tensor over the steps of a training: as many as a picture needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression_names import rename_operations
from gradstep.gui.model.training_curve import renamed_title

Array = np.ndarray[Any, Any]
MOST = 512  # steps that are kept; then every second of them, evenly over the training


class HistogramPoints:
    """rows: float32 [steps, columns], the least and the largest number, how many were not finite,
    and the counts of bins between the two."""

    def __init__(self) -> None:
        self._stride = 1  # kept are multiples of it, and the last
        self._steps: Array = np.zeros(0, np.int64)
        self.rows: Array = np.zeros((0, 4), np.float32)

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def steps(self) -> Array:
        """int64, ascending: in which they were made."""
        return self._steps

    @property
    def first(self) -> int:
        return int(self._steps[0]) if len(self) else 0

    @property
    def stop(self) -> int:
        return int(self._steps[-1]) + 1 if len(self) else 0

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest number of all."""
        if not np.isfinite(self.rows[:, :2]).any():
            return 0.0, 1.0
        low, high = float(np.nanmin(self.rows[:, 0])), float(np.nanmax(self.rows[:, 1]))
        return (low, high) if high > low else (low - 0.5, high + 0.5)

    def put(self, steps: Array, rows: Array) -> None:
        """What they are in these steps, ascending: those from the first of them on that were known
        are forgotten."""
        if not len(steps):
            return
        at = int(np.searchsorted(self._steps, steps[0]))
        kept = self.rows[:at] if at else rows[:0]
        self._steps = np.concatenate([self._steps[:at], steps])
        self.rows = np.concatenate([kept, rows])
        self._thin()
        while len(self) > MOST:
            self._stride *= 2
            self._thin()

    def until(self, step: int) -> HistogramPoints:
        """A copy of those of the steps before that one."""
        found, count = HistogramPoints(), int(np.searchsorted(self._steps, step))
        found._stride = self._stride
        found._steps, found.rows = self._steps[:count], self.rows[:count]
        return found

    def looked_at(self, step: int) -> int:
        """The place of the last one up to that step; -1 for none."""
        return int(np.searchsorted(self._steps, step, "right")) - 1 if step < self.stop else -1

    def _thin(self) -> None:
        wanted = self._steps % self._stride == 0
        wanted[-1] = True
        self._steps, self.rows = self._steps[wanted], self.rows[wanted]


@dataclass(eq=False)
class Histogram:
    """text: an expression that is a tensor; title: its name in the panel; op: where it is on the
    canvas; family: what it is of."""

    text: str
    title: str
    op: str
    family: str
    points: HistogramPoints = field(default_factory=HistogramPoints)

    def forget(self) -> None:
        """Nothing is known of it in this training."""
        self.points = HistogramPoints()

    def renamed(self, name_of: Callable[[str], str]) -> Histogram:
        """It, or the same with operation names put through `name_of`, which has its points."""
        text, op = rename_operations(self.text, name_of), name_of(self.op)
        if (text, op) == (self.text, self.op):
            return self
        return replace(
            self, text=text, title=renamed_title(self.title, "", self.op, name_of), op=op
        )
