"""Which rows of a batch make most of a step's gradient: by one backward pass for each row."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.why.repeated_step import RepeatedStep, Slope
from gradstep.core.errors import GradstepError
from gradstep.core.progress import tell_progress

# How far the rows' gradients may be from the batch's: of that, and of all that is added up.
CLOSE, ROUNDED = 1e-3, 1e-5


@dataclass(frozen=True)
class RowSlope:
    """place: in the batch. loss, norm: of the step if it were fed this row alone. along: the part
    of its gradient in the direction of the batch's, by that one's norm."""

    place: int
    loss: float
    norm: float
    along: float

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.loss) and np.isfinite(self.norm))


@dataclass(frozen=True)
class RowSlopes:
    """whole: of the batch, of `size` rows. rows: those that were looked at, in the batch's order.
    factor: by which their gradients, added up, are that of the batch: 1 / size of a mean, 1 of a
    sum; None where they are not, so that nothing can be said of shares. gap: how far they are from
    it then, by its norm."""

    whole: Slope
    size: int
    rows: Sequence[RowSlope]
    factor: float | None
    gap: float

    def share(self, row: RowSlope) -> float | None:
        """How much of the batch's gradient a row makes: all shares add up to 1. Below 0 for one
        that pulls the other way."""
        share = None if self.factor is None else self.factor * row.along
        return share if share is not None and np.isfinite(share) else None


def row_slopes(step: RepeatedStep, seconds: float) -> RowSlopes:
    """As many rows as there is time for, one at least; the others are looked at together. Raises
    GradstepError, as where rows cannot be fed one by one."""
    whole, until, total = step.slope(step.feeds), time.monotonic() + seconds, _Sums()
    rows: list[RowSlope] = []
    while len(rows) < step.size and not (rows and time.monotonic() >= until):
        check_cancelled()
        tell_progress("Looking at rows", len(rows), step.size)
        place = len(rows)
        found = _alone(step, place)
        total.add(found.gradient, 1)
        rows.append(_row(place, found, whole))
    if len(rows) < step.size:
        rest = slice(len(rows), step.size)
        total.add(step.slope(step.some(rest)).gradient, step.size - len(rows))
    factor, gap = total.compare(whole.gradient, step.size)
    return RowSlopes(whole, step.size, rows, factor, gap)


def _alone(step: RepeatedStep, place: int) -> Slope:
    try:
        return step.slope(step.some(slice(place, place + 1)))
    except GradstepError as error:
        text = f"rows cannot be looked at one by one: {error.message}"
        raise GradstepError(text, kind=error.kind, node=error.node, hint=error.hint) from None


def _row(place: int, found: Slope, whole: Slope) -> RowSlope:
    with np.errstate(all="ignore"):
        square = np.dot(whole.gradient, whole.gradient)
        along = float(np.dot(found.gradient, whole.gradient) / square)
    return RowSlope(place, found.loss, found.norm, along)


class _Sums:
    """Gradients of parts of a batch, added up as if the loss were a sum over rows, and a mean."""

    def __init__(self) -> None:
        self._sum: np.ndarray | float = 0.0
        self._mean: np.ndarray | float = 0.0
        self._lengths = 0.0

    def add(self, gradient: np.ndarray, rows: int) -> None:
        with np.errstate(all="ignore"):
            self._sum = self._sum + gradient
            self._mean = self._mean + rows * gradient
            self._lengths += rows * float(np.linalg.norm(gradient))

    def compare(self, whole: np.ndarray, size: int) -> tuple[float | None, float]:
        """The factor, and the gap; of a mean, or a sum, whichever is nearer."""
        with np.errstate(all="ignore"):
            length = float(np.linalg.norm(whole))
            ways = ((1 / size, self._mean), (1.0, self._sum))
            gaps = [(float(np.linalg.norm(by * made - whole)), by) for by, made in ways]
            gap, factor = min(gaps)
            if not np.isfinite(length):
                return None, np.nan
            there = gap <= CLOSE * length + ROUNDED * factor * self._lengths
            return (factor if there and length else None), gap / length if length else gap
