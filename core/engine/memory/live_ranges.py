"""From which step to which a plan needs its values, and how much memory that takes at each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from gradstep.core.engine.memory.buffer_sharing import last_uses
from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.reuse_layout import ReuseLayout
from gradstep.core.engine.plan.execution_plan import Plan


@dataclass(frozen=True, slots=True)
class LiveRange:
    """first: the step that makes it; -1: it is there before the run. last: the last step that needs
    it, `first` where none does; the number of steps: it is looked at after the run."""

    first: int
    last: int


def live_ranges(plan: Plan) -> list[LiveRange]:
    """Of each value."""
    ends = zip(plan.made_by, last_uses(plan), strict=True)
    return [LiveRange(first, max(first, last)) for first, last in ends]


def live_bytes(layout: RecordLayout, ranges: Sequence[LiveRange]) -> list[int]:
    """For each step, the bytes of the arena that hold something needed, then or later. ranges:
    `live_ranges` of the layout's plan."""
    count = len(layout.plan.steps)
    changes = [0] * (count + 1)
    for size, first, last in _stretches(layout, ranges):
        changes[max(first, 0)] += size
        changes[min(last + 1, count)] -= size
    return [*accumulate(changes[:count])]


def _stretches(layout: RecordLayout, ranges: Sequence[LiveRange]) -> Iterator[tuple[int, int, int]]:
    """Each piece of memory that is one: its bytes, and from which step to which it is needed."""
    if isinstance(layout, ReuseLayout):
        for storage in dict.fromkeys(layout.storages.values()):
            if not storage.variable:
                yield storage.size, storage.start, storage.stop
        return
    found: dict[int, tuple[int, int, int]] = {}  # by offset: what lies there is the same bytes
    for place, live in zip(layout.places, ranges, strict=True):
        if place is not None and place.size:
            size, first, last = found.get(place.offset, (place.size, live.first, live.last))
            found[place.offset] = size, min(first, live.first), max(last, live.last)
    yield from found.values()
