"""How often breakpoints were hit, by the places where they were."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from gradstep.core.debug.breaks.breakpoints import Breakpoint

# Where a run stands, such that places are in the order in which they are come to: run and step; in
# a loop behind them iteration and step, and so on.
Path = tuple[int, ...]
_MOST = 100_000  # for each, a place is a few numbers


class HitCounts:
    """A hit is counted once for each place, however often the debugger passes it; of breakpoints
    that stop, or log, from their first hit on no more than so many."""

    def __init__(self) -> None:
        self._seen: dict[Breakpoint, list[Path]] = {}  # in order

    def enough(self, breakpoint: Breakpoint, here: Path) -> bool:
        """Whether the breakpoint, which is hit here, is to stop: has been hit often enough on the
        way to this place."""
        seen = self._seen.setdefault(breakpoint, [])
        if breakpoint.hits <= 1 and len(seen) >= _MOST:
            return True
        hits = bisect_right(seen, here)
        if not hits or seen[hits - 1] != here:
            seen.insert(hits, here)  # nearly always at the end
            hits += 1
        return hits >= breakpoint.hits

    def of(self, breakpoint: Breakpoint) -> int:
        """How often it was hit so far."""
        return len(self._seen.get(breakpoint, ()))

    def until(self, here: Path) -> Mapping[Breakpoint, list[Path]]:
        """What was counted on the way to a place, to be held by others."""
        return {b: seen[: bisect_right(seen, here)] for b, seen in self._seen.items()}

    @property
    def seen(self) -> Mapping[Breakpoint, list[Path]]:
        """What was counted, to be held again."""
        return self._seen

    def hold(self, seen: Mapping[Breakpoint, list[Path]]) -> None:
        """Count on from there."""
        self._seen = {**seen}

    def forget(self) -> None:
        """Count from nothing again."""
        self._seen = {}
