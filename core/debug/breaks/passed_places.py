"""Places of breakpoints that runs go past: what is hit there is far from having been hit enough.

A breakpoint that stops at its hundredth hit, whatever the values are, need not be halted at for the
ninety-nine before. Its hits are counted all the same: of a run in one go, when it was gone through.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.hit_counts import HitCounts, Passed


class Place(Protocol):
    """Where a breakpoint may be hit. counts: whether it is there each time that a run comes by, and
    does nothing but stop, at a later hit than the first; after: right after the step that it is on,
    and not before it."""

    @property
    def breakpoint(self) -> Breakpoint: ...

    @property
    def counts(self) -> bool: ...

    @property
    def after(self) -> bool: ...


class PassedPlaces:
    """Of the places at positions, those that are passed."""

    def __init__(self, at: Mapping[int, Sequence[Place]], hits: HitCounts) -> None:
        self._positions = self._halts = sorted(at)
        self._hits = hits
        counting = {p: at[p] for p in self._positions if all(place.counts for place in at[p])}
        self._counting = [
            (p, place.breakpoint, place.after) for p, places in counting.items() for place in places
        ]
        # How often each may be hit when all is come to once: also where another one may stop.
        everywhere = at.values() if self._counting else ()
        self._here = Counter(place.breakpoint for places in everywhere for place in places)
        self._passed: Sequence[Passed] = ()
        self._at: Mapping[int, Sequence[Passed]] = {}
        self._epoch: object = None
        self._until = 0  # so many hits this holds

    def halts(self, after: int, until: int, passing: bool) -> list[int]:
        """Positions p with after < p <= until, ascending; without those that are passed, if any is
        to be."""
        positions = self._positions
        if passing and self._counting:
            self._sort()
            positions = self._halts
        return positions[bisect_right(positions, after) : bisect_right(positions, until)]

    @property
    def passed(self) -> Sequence[Passed]:
        """The others, of the whole run but its start: positions, and where the breakpoint there was
        hit."""
        return self._passed

    def passed_at(self, position: int) -> Sequence[Passed]:
        """Those at one position, where nothing can stop then; none where something can."""
        if self._counting:
            self._sort()
        return self._at.get(position, ())

    def _sort(self) -> None:
        """Pass those that cannot be hit often enough when everything here is come to once more, and
        the others too."""
        hits = self._hits
        if self._epoch is hits.epoch and hits.noted <= self._until:
            return
        counting = {b for _, b, _ in self._counting}
        spare = {b: b.hits - 1 - len(hits.places(b)) - self._here[b] for b in counting}
        near = {position for position, b, _ in self._counting if spare[b] < 0}
        far = [each for each in self._counting if each[0] not in near]
        at: dict[int, list[Passed]] = {}
        for position, b, after in far:
            at.setdefault(position, []).append(Passed(position, hits.places(b), after))
        self._at = at
        self._passed = [each for p, passed in at.items() if p for each in passed]
        self._halts = [position for position in self._positions if position not in at]
        self._epoch = hits.epoch
        self._until = hits.noted + min((spare[b] for _, b, _ in far), default=sys.maxsize)
