"""The points of a curve that is looked at in some steps only: as few as a picture needs."""

from __future__ import annotations

import numpy as np

from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.gui.model.curve_points import Points, Stretch

MOST = 1 << 17  # steps that are kept; then the oldest quarter goes


class SampledPoints:
    """What a curve was in some of the steps `first` to `stop`, ascending."""

    def __init__(self) -> None:
        self._steps = np.empty(256, np.int64)
        self._points = Points()  # one behind the other, whatever the steps are

    def __len__(self) -> int:
        return len(self._points)

    @property
    def steps(self) -> np.ndarray:
        """int64: in which; not a copy."""
        return self._steps[: len(self)]

    @property
    def numbers(self) -> np.ndarray:
        """float64: what it was there; not a copy."""
        return self._points.numbers

    @property
    def first(self) -> int:
        return int(self._steps[0]) if len(self) else 0

    @property
    def stop(self) -> int:
        return int(self._steps[len(self) - 1]) + 1 if len(self) else 0

    def put(self, steps: np.ndarray, numbers: np.ndarray) -> None:
        """What it is in these steps, ascending: those from the first of them on that were known
        are forgotten."""
        if not len(steps):
            return
        at = int(np.searchsorted(self.steps, steps[0]))
        if at + len(steps) > len(self._steps):
            self._steps = np.resize(self._steps, max(at + len(steps), 2 * len(self._steps)))
        self._steps[at : at + len(steps)] = steps
        self._points.put(at, numbers)
        if len(self) > MOST:
            self._forget(MOST // 4)

    def at(self, step: int) -> float:
        """What it was when it was last looked at, up to that step; NOT_THERE where it was not."""
        found = self.looked_at(step)
        return NOT_THERE if found < 0 else float(self.numbers[self._index(step)])

    def looked_at(self, step: int) -> int:
        """The step up to this one in which it was last looked at; -1 for none."""
        there = self.first <= step < self.stop
        return int(self._steps[self._index(step)]) if there else -1

    def until(self, step: int) -> SampledPoints:
        """A copy of what is known of the steps before that one."""
        found, count = SampledPoints(), int(np.searchsorted(self.steps, step))
        found.put(self.steps[:count], self.numbers[:count])
        return found

    def stretch(self, start: float, stop: float, most: int) -> Stretch:
        """Steps `start` to `stop`, and one on either side, in about `most` bins or fewer."""
        low = max(int(np.searchsorted(self.steps, int(start), "right")) - 1, 0)
        high = int(np.searchsorted(self.steps, int(stop) + 1))
        found = self._points.stretch(low, high, most)
        spread = max((self.stop - self.first) // max(len(self), 1), 1)
        steps = self._steps[found.steps]
        return Stretch(found.size * spread, steps, found.low, found.high, found.mean, found.wrong)

    def _index(self, step: int) -> int:
        return int(np.searchsorted(self.steps, step, "right")) - 1

    def _forget(self, count: int) -> None:
        steps, numbers = self.steps[count:].copy(), self.numbers[count:].copy()
        self._points = Points()
        self.put(steps, numbers)
