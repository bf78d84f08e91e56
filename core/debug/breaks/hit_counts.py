"""How often breakpoints were hit, by the places where they were."""

from __future__ import annotations

from bisect import bisect_right

from gradstep.core.debug.breaks.breakpoints import Breakpoint

# Where a run stands, such that places are in the order in which they are come to: run and step; in
# a loop behind them iteration and step, and so on.
Path = tuple[int, ...]


class HitCounts:
    """A hit is counted once for each place, however often the debugger passes it. Only breakpoints
    that do not stop at their first hit are counted."""

    def __init__(self) -> None:
        self._seen: dict[Breakpoint, list[Path]] = {}  # in order

    def enough(self, breakpoint: Breakpoint, here: Path) -> bool:
        """Whether the breakpoint, which is hit here, is to stop: has been hit often enough on the
        way to this place."""
        if breakpoint.hits <= 1:
            return True
        seen = self._seen.setdefault(breakpoint, [])
        hits = bisect_right(seen, here)
        if not hits or seen[hits - 1] != here:
            seen.insert(hits, here)  # nearly always at the end
            hits += 1
        return hits >= breakpoint.hits

    def forget(self) -> None:
        """Count from nothing again."""
        self._seen.clear()
