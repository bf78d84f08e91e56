"""Repeated measurements as a median and quartiles, and two interleaved ones as a ratio."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some measurements and their quartiles."""

    median: float
    low: float
    high: float
    count: int = 1  # of the measurements

    @property
    def width(self) -> float:
        """From quartile to quartile, relative to the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    @property
    def doubt(self) -> float:
        """How far the median may be from that of ever more measurements, relative to it: as far as
        a notch of a box plot goes. Where those of two medians do not overlap they differ, at about
        95 % (McGill, Tukey and Larsen, Variations of Box Plots, 1978)."""
        return 1.57 * self.width / math.sqrt(self.count)

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) < 2:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high, len(values))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Of the ratios within each round: what slows the machine down for a while slows both."""
    return Spread.of([a / b for a, b in zip(ours, theirs, strict=True)])
