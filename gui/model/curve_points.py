"""The points of one curve, and for any stretch of them as few as a picture needs.

Numbers are kept as they come, and of every 8, 64, 512… of them the least, the greatest and the
sum, so that a picture of a million steps costs what one of a thousand costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.core.debug.breaks.missing_number import NOT_THERE, is_not_there

FACTOR = 8
MOST = 1 << 20  # steps that are kept; then the oldest quarter goes


@dataclass(frozen=True, eq=False)
class Stretch:
    """Bins of `size` steps each, the first of which begins with `steps[0]`, ascending. low, high,
    mean: of what is a number in each; NaN where nothing is. wrong: where one was computed that is
    NaN or infinite."""

    size: int
    steps: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    wrong: np.ndarray


class _Level:
    """Bins of so many steps."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.low, self.high, self.total, self.count, self.wrong = (np.empty(64) for _ in range(5))

    def room(self, bins: int) -> None:
        if bins > len(self.low):
            self.low, self.high, self.total, self.count, self.wrong = (
                np.resize(rows, max(bins, 2 * len(rows)))
                for rows in (self.low, self.high, self.total, self.count, self.wrong)
            )


class Points:
    """What a curve was in steps `first` to `stop`, one behind the other; NOT_THERE in those of
    which it is not known."""

    def __init__(self) -> None:
        self.first = self.stop = 0
        self._numbers = np.empty(1024)
        self._levels: list[_Level] = []

    def __len__(self) -> int:
        return self.stop - self.first

    def put(self, step: int, numbers: np.ndarray) -> None:
        """What it is from `step` on: steps from there on that were known are forgotten."""
        if not len(self) or step < self.first or step - self.stop > MOST:
            self.first = self.stop = step
        missing = max(step - self.stop, 0)
        self._write(min(step, self.stop), np.concatenate([np.full(missing, NOT_THERE), numbers]))
        if len(self) > MOST:
            self._forget(MOST // 4)

    @property
    def steps(self) -> np.ndarray:
        """int64: in which."""
        return np.arange(self.first, self.stop)

    def at(self, step: int) -> float:
        """NOT_THERE where it is not known."""
        there = self.first <= step < self.stop
        return float(self._numbers[step - self.first]) if there else NOT_THERE

    @property
    def numbers(self) -> np.ndarray:
        """All that are known; not a copy."""
        return self._numbers[: len(self)]

    def until(self, step: int) -> Points:
        """A copy of what is known of the steps before that one."""
        found = Points()
        if step > self.first and len(self):
            found.put(self.first, self.numbers[: step - self.first])
        return found

    def stretch(self, start: float, stop: float, most: int) -> Stretch:
        """Steps `start` to `stop` in about `most` bins, or up to eight times fewer."""
        first = max(int(start) - self.first, 0)
        last = min(int(min(stop, self.stop)) + 1 - self.first, len(self))
        level = next((n for n in self._levels if (last - first) <= most * n.size), None)
        if last - first <= most or not self._levels:
            found = self._numbers[first : max(last, first)]
            steps = np.arange(first, first + len(found)) + self.first
            return Stretch(1, steps, found, found, found, _is_wrong(found))
        level = level or self._levels[-1]
        bins = slice(first // level.size, max(-(-last // level.size), 0))
        count = level.count[bins]
        mean = np.divide(level.total[bins], count, out=np.full(len(count), np.nan), where=count > 0)
        wrong = level.wrong[bins] > 0
        steps = np.arange(bins.start, bins.start + len(count)) * level.size + self.first
        return Stretch(level.size, steps, level.low[bins], level.high[bins], mean, wrong)

    def _write(self, step: int, numbers: np.ndarray) -> None:
        at = step - self.first
        self.stop = step + len(numbers)
        if len(self) > len(self._numbers):
            self._numbers = np.resize(self._numbers, max(len(self), 2 * len(self._numbers)))
        self._numbers[at : len(self)] = numbers
        while FACTOR ** (len(self._levels) + 1) * FACTOR <= len(self):
            self._levels.append(_Level(FACTOR ** (len(self._levels) + 1)))
            at = 0
        for number, level in enumerate(self._levels):
            self._fill(level, self._levels[number - 1] if number else None, at // level.size)

    def _fill(self, level: _Level, below: _Level | None, start: int) -> None:
        """The bins from number `start` on, of those of the level below."""
        stop = -(-len(self) // level.size)
        level.room(stop)
        if below is None:
            part = self._numbers[start * FACTOR : len(self)]
            known = ~np.isnan(part)
            count, wrong = known.astype(float), _is_wrong(part).astype(float)
            rows = part, part, np.where(known, part, 0), count, wrong
        else:
            bins = slice(start * FACTOR, -(-len(self) // below.size))
            kinds = below.low, below.high, below.total, below.count, below.wrong
            low, high, total, count, wrong = (kind[bins] for kind in kinds)
            rows = low, high, total, count, wrong
        first = np.arange(0, len(rows[0]), FACTOR)
        with np.errstate(invalid="ignore", over="ignore"):
            level.low[start:stop] = np.fmin.reduceat(rows[0], first)
            level.high[start:stop] = np.fmax.reduceat(rows[1], first)
            level.total[start:stop] = np.add.reduceat(rows[2], first)
        level.count[start:stop] = np.add.reduceat(rows[3], first)
        level.wrong[start:stop] = np.add.reduceat(rows[4], first)

    def _forget(self, count: int) -> None:
        numbers = self.numbers[count:].copy()
        self.first = self.stop = self.first + count
        self._levels.clear()
        self._write(self.first, numbers)


def _is_wrong(numbers: np.ndarray) -> np.ndarray:
    found: np.ndarray = ~np.isfinite(numbers) & ~is_not_there(numbers)
    return found


def smoothed(stretch: Stretch, steps: int) -> np.ndarray:
    """The mean of so many steps up to each bin, as far as bins tell them apart."""
    width = max(steps // stretch.size, 1)
    mean = stretch.mean
    if width == 1:
        return mean
    known = np.isfinite(mean)
    total = np.cumsum(np.where(known, mean, 0))
    count = np.cumsum(known)
    total[width:] -= total[:-width].copy()
    count[width:] -= count[:-width].copy()
    found = np.full(len(mean), np.nan)
    np.divide(total, count, out=found, where=count > 0)
    return found
