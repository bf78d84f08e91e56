"""Repeated measurements as a median and quartiles, and two interleaved ones as a ratio."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some measurements and their quartiles."""

    median: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """From quartile to quartile, relative to the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) < 2:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Of the ratios within each round: what slows the machine down for a while slows both."""
    return Spread.of([a / b for a, b in zip(ours, theirs, strict=True)])
