"""Histograms of tensors that are followed from run to run, in as few runs as a picture needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradstep.core.debug.breaks.curves import Curves
from gradstep.core.debug.breaks.expression import Values
from gradstep.core.debug.history.fast_runs import Fetch
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of

BINS = 64
COLUMNS = 3 + BINS  # of a row: the least and the largest number, how many are not finite, counts
MOST = 256  # runs until they are made half as often
COARSEST = 16  # at first, however many runs are asked for: it may be over before
_COUNTED = 1 << 17  # elements; of more every second, every third, …


@dataclass
class Histograms:
    """tensors: expressions that are arrays (`x["w"]`, `grad["w"]`). runs: how many are asked for.
    stride: in which runs they are made, of those that are looked at: multiples of that. It begins
    such that they are spread over the runs, and doubles every so many of them, so that a training
    of any length has a bounded number."""

    tensors: Curves
    runs: int = 0
    stride: int = field(init=False)
    _made: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.stride = min(1 << (self.runs // MOST).bit_length(), COARSEST)

    @property
    def fetches(self) -> tuple[Fetch, ...]:
        """What they read."""
        return self.tensors.fetches

    def is_due(self, run: int) -> bool:
        """Whether they are wanted of this run."""
        return bool(self.tensors.texts) and run % self.stride == 0

    def read(self, values: Values) -> np.ndarray:
        """float32 [tensors, COLUMNS]. Raises GradstepError for what holds no numbers."""
        self._made += 1
        if self._made % MOST == 0:
            self.stride *= 2
        texts, arrays = self.tensors.texts, self.tensors.arrays(values)
        return np.array([_row(text, x) for text, x in zip(texts, arrays, strict=True)], np.float32)


def _row(text: str, value: object) -> np.ndarray:
    if value is None:
        return np.full(COLUMNS, np.nan)
    array = np.asarray(value)
    if kind_of(array.dtype) not in "biuf":
        raise GradstepError(
            f"'{text}' holds no real numbers",
            kind="TypeError",
            hint="follow the histogram of a tensor of numbers",
        )
    return histogram(array)


def histogram(array: np.ndarray) -> np.ndarray:
    """float64 [COLUMNS] of real numbers: the ends of BINS bins of one width, how many numbers are
    not finite, and the counts. NaN for the ends where no number is finite."""
    numbers = array.reshape(-1)[:: -(-array.size // _COUNTED) or 1].astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    row = np.zeros(COLUMNS)
    row[2] = len(numbers) - len(finite)
    if not len(finite):
        row[:2] = np.nan
        return row
    low, high = float(finite.min()), float(finite.max())
    row[:2] = low, high
    half = high / 2 - low / 2  # the whole may be beyond the largest number
    scale = BINS / half if half > 0 else 0.0
    at = (finite / 2 - low / 2) * scale if np.isfinite(scale) else finite > low
    places = at.astype(np.intp)
    row[3:] = np.bincount(np.minimum(places, BINS - 1), minlength=BINS)
    return row
