"""Where a number stands on an axis: linear or logarithmic, with numbers that people would write."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_DECADES = 1.7  # that numbers have to span for their axis to be logarithmic,
_MOST = 6  # and that it shows, below the greatest of them
_STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class PlotScale:
    """From `low` to `high`. On a logarithmic one, 0 and what is below `low` stand at its end."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def of(cls, numbers: Iterable[float]) -> PlotScale:
        """That holds all that are finite; logarithmic where that suits them."""
        found = np.array([*numbers], float)
        found = found[np.isfinite(found)]
        if not len(found):
            return cls(0.0, 1.0)
        low, high = float(found.min()), float(found.max())
        least = float(found[found > 0].min()) if high > 0 else 0.0
        if low >= 0 and high > 0 and math.log10(high / least) > _DECADES:
            return cls(max(least, high / 10**_MOST), high, log=True)
        if low == high:
            around = (abs(low) or 1.0) / 2
            return cls(low - around, high + around)
        return cls(low, high)

    def share(self, number: float) -> float:
        """0 at `low`, 1 at `high`; NaN for what is not finite."""
        return float(self.shares(np.array([number]))[0])

    def shares(self, numbers: np.ndarray) -> np.ndarray:
        """The same of many."""
        with np.errstate(all="ignore"):
            if self.log:
                there = np.maximum(numbers, self.low) / self.low
                found = np.log(there) / math.log(self.high / self.low)
            else:
                found = (numbers - self.low) / (self.high - self.low)
            return np.where(np.isfinite(numbers), found, np.nan)

    def ticks(self, most: int) -> list[float]:
        """At most so many round numbers on it."""
        found = self._decades() if self.log else []
        if len(found) < 2:
            found = self._round(most)
        step = max(1, -(-len(found) // max(most, 1)))
        return found[::step]

    def _decades(self) -> list[float]:
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        return [10.0**power for power in range(first, last + 1)]

    def _round(self, most: int) -> list[float]:
        rough = (self.high - self.low) / max(most, 1)
        size = 10.0 ** math.floor(math.log10(rough))
        step = next((n * size for n in _STEPS if n * size >= rough), 10 * size)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [n * step for n in range(first, last + 1)]


def tick_text(number: float) -> str:
    """ "0.001", "20k", "1e-6"."""
    size = abs(number)
    if size and (size < 1e-3 or size >= 1e6):
        return f"{number:.3g}".replace("e-0", "e-").replace("e+0", "e")
    return f"{number / 1000:g}k" if size >= 10_000 else f"{number:.4g}"
