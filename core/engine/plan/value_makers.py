"""Which step makes each value of a plan, found from the plan before an edit.

A step's number is told where somebody asks for it only, as an edit moves most steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, overload

from gradstep.core.engine.plan.steps import Step
from gradstep.core.persistent.edited_sequence import followed, replaced
from gradstep.core.persistent.joined_sequence import in_parts

if TYPE_CHECKING:
    from gradstep.core.engine.plan.touched_steps import Exchanged

Makers = Sequence[Step | None]  # of each value; None: it is there when the run starts
_WRITES = attrgetter("writes")


def find_makers(steps: Sequence[Step], count: int) -> Makers:
    """Of so many values. In C."""
    found: list[Step | None] = [None] * count
    writes = [*map(_WRITES, steps)]
    makers = chain.from_iterable(map(repeat, steps, map(len, writes)))
    deque(map(found.__setitem__, chain.from_iterable(writes), makers), maxlen=0)
    return in_parts(found)


def makers_after(before: Makers, exchanged: Exchanged, count: int) -> Makers:
    """For each value the step that makes it, after an edit. before: of the plan before it."""
    others: dict[int, Step | None] = {}
    for step in exchanged.gone:
        others.update(zip(step.writes, repeat(None)))
    for step in exchanged.new:
        others.update(zip(step.writes, repeat(step)))
    return replaced(followed(before, [None] * (count - len(before))), others)


class MadeBy(Sequence[int]):
    """For each value the number of the step that makes it; -1: it is there when the run starts."""

    __slots__ = ("_makers", "_step_of")

    def __init__(self, makers: Makers, step_of: Mapping[str, int]) -> None:
        self._makers, self._step_of = makers, step_of

    @overload
    def __getitem__(self, value: int) -> int: ...

    @overload
    def __getitem__(self, value: slice) -> Sequence[int]: ...

    def __getitem__(self, value: int | slice) -> int | Sequence[int]:
        if isinstance(value, slice):
            return MadeBy(self._makers[value], self._step_of)
        return self._number(self._makers[value])

    def __iter__(self) -> Iterator[int]:
        return map(self._number, self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def _number(self, step: Step | None) -> int:
        return -1 if step is None else self._step_of[step.op.name]
