"""In which runs to look closely, so that looking takes no more than a share of the time."""

from __future__ import annotations

from time import perf_counter

GRACE = 0.2  # seconds that looking may take at any rate: a short training is seen whole
_WEIGHT = 0.1  # of the newest run in the mean of how long runs take
_MOST = 4.0  # times the mean: a run that took longer did so for another reason


class LookBudget:
    """share: of the time, 1 for each run, 0 for none. is_close: whether this run is looked at.

    What looking costs is how much longer runs take that are looked at than those that are not, and
    at least what reading the numbers takes.
    """

    def __init__(self, share: float) -> None:
        self.is_close = False
        self._share = share
        self._began = self._read = perf_counter()
        self._looked = self._all = 0.0  # seconds, without those in which others had the processor
        self._plain, self._close, self._reading = _Mean(), _Mean(), _Mean()

    def begin(self, run: int, wanted: bool = True) -> bool:
        """Before a run: whether to look at it. wanted: whether there would be something to see."""
        self._began = perf_counter()
        allowed = GRACE + self._share * self._all
        may = self._share >= 1 or (self._share > 0 and self._looked <= allowed)
        self.is_close = wanted and may
        return self.is_close

    def read(self) -> None:
        """The run is made, and what it gave is about to be read."""
        self._read = perf_counter()

    def end(self) -> None:
        """All about the run has been told."""
        now = perf_counter()
        self._all += (self._close if self.is_close else self._plain).add(now - self._began)
        if self.is_close:
            self._reading.add(now - self._read)
            extra = self._close.mean - self._plain.mean if self._plain.mean else 0.0
            self._looked += max(extra, self._reading.mean)


class _Mean:
    """Of how long something takes; 0 while that is not known. The first time is left out: then
    plans are made, and expressions parsed."""

    def __init__(self) -> None:
        self.mean = 0.0
        self._began = False

    def add(self, seconds: float) -> float:
        """As much of it as counts."""
        if not self._began:
            self._began = True
            return 0.0
        before = self.mean or seconds
        seconds = min(seconds, _MOST * before)
        self.mean = before + _WEIGHT * (seconds - before)
        return seconds
