"""The variables that some runs started from: from there the runs behind them are computed again."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from gradstep.core.engine.run.variable_store import VariableStore


class RunStarts:
    """All, while they take little memory; then those of every second run, every fourth, and so on.
    The first is always there, and the last until a later one comes.

    stride: the runs whose starts are kept are multiples of that power of two.
    """

    def __init__(self, run: int, store: VariableStore) -> None:
        self.stride = 1
        self._stores = {run: store}
        self._runs = [run]  # ascending
        self._sizes = {run: 0}  # what the first holds is there anyway
        self._nbytes = 0

    def __getitem__(self, run: int) -> VariableStore:
        return self._stores[run]

    def __contains__(self, run: int) -> bool:
        return run in self._stores

    @property
    def runs(self) -> Sequence[int]:
        """Those whose starts are kept."""
        return tuple(self._runs)

    def before(self, run: int) -> int:
        """The last one that is not after `run`."""
        return self._runs[bisect_right(self._runs, run) - 1]

    def after(self, run: int) -> int | None:
        """The first one that is after `run`; None where there is none."""
        return next(iter(self._runs[bisect_right(self._runs, run) :]), None)

    def wants(self, run: int) -> bool:
        """Whether it is one of those that are kept, and is not there yet."""
        return run % self.stride == 0 and run > self._runs[0] and run not in self._stores

    def keep(self, run: int, store: VariableStore, limit: int) -> None:
        """Keep what a run started from; all together in about `limit` bytes."""
        last = self._runs[-1]
        if run > last != self._runs[0] and last % self.stride:
            self._drop(last)
        if run in self._stores:
            self._drop(run)
        insort(self._runs, run)
        self._stores[run], self._sizes[run] = store, store.nbytes
        self._nbytes += store.nbytes
        while len(self._runs) > 2 and self._nbytes > limit:
            self._thin()

    def begin_at(self, run: int, store: VariableStore) -> None:
        """Nobody looks at runs before this one any more, which started from `store`."""
        for early in self._runs[: bisect_right(self._runs, run)]:
            self._drop(early)
        self._runs.insert(0, run)
        self._stores[run], self._sizes[run] = store, 0

    def until(self, run: int) -> RunStarts:
        """The starts of the runs up to that one, for others that go on from there."""
        other = RunStarts(self._runs[0], self._stores[self._runs[0]])
        other.stride = self.stride
        for early in self._runs[1 : bisect_right(self._runs, run)]:
            other._runs.append(early)
            other._stores[early], other._sizes[early] = self._stores[early], self._sizes[early]
            other._nbytes += self._sizes[early]
        return other

    def forget_after(self, run: int) -> None:
        """The runs behind that one have not been made."""
        for late in self._runs[bisect_right(self._runs, run) :]:
            self._drop(late)

    def _thin(self) -> None:
        self.stride *= 2
        for run in [run for run in self._runs[1:-1] if run % self.stride]:
            self._drop(run)

    def _drop(self, run: int) -> None:
        self._runs.remove(run)
        self._nbytes -= self._sizes.pop(run)
        del self._stores[run]
