"""How often breakpoints were hit, by the places where they were."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradstep.core.debug.breaks.breakpoints import Breakpoint

# Where a run stands, such that places are in the order in which they are come to: run and step; in
# a loop behind them iteration and step, and so on.
Path = tuple[int, ...]
_MOST = 100_000  # for each, a place is a few numbers


class Passed(NamedTuple):
    """A position at which a breakpoint does not stop yet, and where it was hit. after: the step
    that it is on, and not before it."""

    position: int
    seen: list[Path]
    after: bool


@dataclass(slots=True)
class _Passage:
    """Places that were come to in runs, or iterations, `first` to `stop`: of each a position, and
    those of the breakpoint that is there."""

    passed: Sequence[Passed]
    around: Path
    first: int
    stop: int


class HitCounts:
    """A hit is counted once for each place, however often the debugger passes it; of breakpoints
    that stop, or log, from their first hit on no more than so many.

    noted: at least as many as all hits so far, and never fewer; epoch: another one where others are
    counted from then on.
    """

    def __init__(self) -> None:
        self._seen: dict[Breakpoint, list[Path]] = {}  # in order
        self._passages: list[_Passage] = []  # that are not among them yet
        self._latest: dict[int, _Passage] = {}  # of them, by which sequence of places it is of
        self.noted = 0
        self.epoch = object()

    def enough(self, breakpoint: Breakpoint, here: Path) -> bool:
        """Whether the breakpoint, which is hit here, is to stop: has been hit often enough on the
        way to this place."""
        self._settle()
        seen = self._seen.setdefault(breakpoint, [])
        if breakpoint.hits <= 1 and len(seen) >= _MOST:
            return True
        hits = bisect_right(seen, here)
        if not hits or seen[hits - 1] != here:
            seen.insert(hits, here)  # nearly always at the end
            self.noted += 1
            hits += 1
        return hits >= breakpoint.hits

    def places(self, breakpoint: Breakpoint) -> list[Path]:
        """Where it was hit, in order: what `count` is to add to."""
        self._settle()
        return self._seen.setdefault(breakpoint, [])

    def count(self, passed: Sequence[Passed], way: Path) -> None:
        """Count hits that do not stop, on the way through a run, or an iteration. In one after the
        other they are nearly always the same, and then this takes no memory."""
        around, number = way[:-1], way[-1]
        last = self._latest.get(id(passed))
        if last is not None and last.stop == number and last.around == around:
            last.stop += 1
        else:
            self._latest[id(passed)] = last = _Passage(passed, around, number, number + 1)
            self._passages.append(last)
        self.noted += len(passed)

    def _settle(self) -> None:
        """Put down what was passed."""
        if not self._passages:
            return
        for passage in self._passages:
            for number in range(passage.first, passage.stop):
                for position, seen, _ in passage.passed:
                    _put(seen, (*passage.around, number, position))
        self._let_go()

    def _let_go(self) -> None:
        self._passages.clear()
        self._latest.clear()

    def of(self, breakpoint: Breakpoint) -> int:
        """How often it was hit so far."""
        self._settle()
        return len(self._seen.get(breakpoint, ()))

    def until(self, here: Path) -> Mapping[Breakpoint, list[Path]]:
        """What was counted on the way to a place, to be held by others."""
        return {b: seen[: bisect_right(seen, here)] for b, seen in self.seen.items()}

    @property
    def seen(self) -> Mapping[Breakpoint, list[Path]]:
        """What was counted, to be held again."""
        self._settle()
        return self._seen

    def hold(self, seen: Mapping[Breakpoint, list[Path]]) -> None:
        """Count on from there."""
        self._settle()
        self._seen, self.epoch = {**seen}, object()

    def forget(self) -> None:
        """Count from nothing again."""
        self._let_go()
        self._seen, self.epoch = {}, object()


def _put(seen: list[Path], here: Path) -> None:
    if not seen or seen[-1] < here:  # nearly always
        seen.append(here)
    elif seen[bisect_left(seen, here)] != here:
        insort(seen, here)
