"""A loop's iterations, cut into segments: each can be computed again from where it starts.

The farther a loop has come, the longer they are: of n iterations some √n have what they start with
kept. None is so long that what the way back needs of it takes much of the memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from gradstep.core.engine.device_transfer import copy_array, size_of
from gradstep.core.engine.loops.given_values import GivenValues
from gradstep.core.engine.loops.trace_budget import Charge, Shrinking
from gradstep.core.engine.loops.trace_retention import Kept

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording

Values = Mapping[int, Any]  # of one iteration

_LONGER = 32  # iterations by which each is longer than the one before
_SEGMENT, _STARTS = 4, 8  # parts of the memory: what one segment may take, and all starts together
_START = attrgetter("start")


@dataclass(slots=True, eq=False)
class Segment:
    """From iteration `start` on. variables: as that one begins, those that change; None: nothing
    can be computed again. values: of each iteration, what is asked for; None: they were let go of.
    nbytes: what they take, or took."""

    start: int
    variables: Mapping[str, Any] | None
    values: list[Values] | None = field(default_factory=list)
    nbytes: int = 0


class Segments:
    """Of one run of a loop, in order. charge: for what they start with. given: what is given by
    hand in the iterations."""

    def __init__(self, kept: Kept, charge: Charge, given: GivenValues | None = None) -> None:
        self.given = given
        self.all: list[Segment] = []
        self._kept, self._charge = kept, charge
        self._fixed: Mapping[str, Any] = {}  # variables that are the same in all iterations
        self._start_bytes = 0

    def of(self, iteration: int) -> Segment:
        return self.all[bisect_right(self.all, iteration, key=_START) - 1]

    def stop(self, segment: Segment, iterations: int) -> int:
        """The iteration after its last one, of so many."""
        following = bisect_right(self.all, segment.start, key=_START)
        return self.all[following].start if following < len(self.all) else iterations

    def variables(self, segment: Segment) -> Mapping[str, Any] | None:
        """All that its first iteration starts with; None: that is not known."""
        known = segment.variables
        return None if known is None else {**self._fixed, **known}

    def until(self, iteration: int, charge: Charge, given: GivenValues | None) -> Segments:
        """Those of the iterations before that one, for a run of the loop that goes on from there.
        charge, given: as of the whole."""
        other = Segments(self._kept, charge, given)
        other._fixed = self._fixed
        for segment in self.all:
            if segment.start < iteration:
                values = segment.values
                values = None if values is None else values[: iteration - segment.start]
                nbytes = 0 if values is None else sum(size_of(each.values()) for each in values)
                other.all.append(Segment(segment.start, segment.variables, values, nbytes))
                starts = 0 if segment.variables is None else size_of(segment.variables.values())
                other._start_bytes += starts
                charge.add(starts + nbytes)
        charge.add(size_of(other._fixed.values()))
        return other

    def current(self, number: int, recording: Recording, nbytes: int, asking: Shrinking) -> Segment:
        """The segment of iteration `number`, which has just been run, and of which so many bytes
        will be kept: it begins one where the last is long enough."""
        if not self.all:
            self._begin(number, recording, asking)
        elif self._is_full(self.all[-1], number, nbytes):
            variables = self._copies(number, recording, self._kept.changing, asking)
            if variables is not None:
                self._append(number, variables)
        return self.all[-1]

    def _begin(self, number: int, recording: Recording, asking: Shrinking) -> None:
        """The first segment."""
        variables = None
        if self._kept.repeat is not None:
            plan, changing = recording.plan, self._kept.changing
            lasting = (name for name in plan.versions if not plan.variables[name].anew)
            fixed = self._copies(number, recording, set(lasting) - changing, asking)
            if fixed is not None:
                self._fixed = fixed
                variables = self._copies(number, recording, changing, asking)
        self._append(number, variables)

    def _append(self, number: int, variables: Mapping[str, Any] | None) -> None:
        self._start_bytes += 0 if variables is None else size_of(variables.values())
        self.all.append(Segment(number, variables))

    def _is_full(self, last: Segment, number: int, nbytes: int) -> bool:
        memory, count = self._kept.memory, len(self.all)
        if memory is None or last.variables is None or number == last.start:
            return False
        if last.nbytes + nbytes > memory.capacity // _SEGMENT:
            return True
        is_long = number - last.start >= _LONGER * count
        return is_long and self._start_bytes // count * (count + 1) <= memory.capacity // _STARTS

    def _copies(
        self, number: int, recording: Recording, names: Iterable[str], asking: Shrinking
    ) -> Mapping[str, Any] | None:
        """Of what variables held as the iteration began; None where there is no room for them."""
        versions, memory, given = recording.plan.versions, self._kept.memory, self.given
        firsts = {name: versions[name][0] for name in names}
        there = {name: recording.value(first) for name, first in firsts.items()}
        if given is not None:
            there = {n: given.at(number, firsts[n], 0, x) for n, x in there.items()}
        there = {name: x for name, x in there.items() if x is not None}
        nbytes = size_of(there.values())
        if memory is not None and not memory.has_room(nbytes, asking):
            return None
        self._charge.add(nbytes)
        xp = recording.backend.xp
        return {name: copy_array(xp, x) for name, x in there.items()}
