"""Queues that hand out their elements in another order than they came, or fill them up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from gradstep.core.errors import GradstepError
from gradstep.core.ops.numerics.philox import Seeds, blocks
from gradstep.core.ops.state.queue import Item, Queue


@dataclass(frozen=True, eq=False)
class ShuffleQueue(Queue):
    """Hands out a random element, and until it is closed keeps `keeps` of them, so that there are
    always some to choose from. drawn: random numbers used up."""

    keeps: int = 0
    seeds: Seeds = (0, 0)
    drawn: int = 0

    def __post_init__(self) -> None:
        if self.keeps < 0:
            raise GradstepError(
                f"min_after_dequeue {self.keeps} must be >= 0", hint="0 lets all be taken"
            )
        if self.keeps >= self.limit:
            raise GradstepError(
                f"min_after_dequeue {self.keeps} must be < capacity {self.capacity}",
                hint="give the queue more room, or let it keep fewer back",
            )

    @property
    def available(self) -> int:
        return len(self.items) if self.closed else max(len(self.items) - self.keeps, 0)

    def _taken(self, count: int) -> tuple[tuple[Item, ...], Self]:
        """The last element takes the chosen one's place (random_shuffle_queue_op.cc)."""
        items, taken = [*self.items], []
        for number in self._numbers(count):
            place = number % len(items)
            taken.append(items[place])
            items[place] = items[-1]
            items.pop()
        return tuple(taken), replace(self, items=tuple(items), drawn=self.drawn + count)

    def _numbers(self, count: int) -> list[int]:
        """The next random numbers of the queue's stream."""
        first, start = divmod(self.drawn, 4)
        words = blocks(self.seeds, first, -(-(start + count) // 4)).ravel()
        return [int(x) for x in words[start : start + count]]

    def _lack(self, count: int, taken: int) -> str:
        text = super()._lack(count, taken)
        return f"{text} and keeps {self.keeps} (min_after_dequeue)" if self.keeps else text


@dataclass(frozen=True, eq=False)
class PriorityQueue(Queue):
    """Hands out the element with the lowest first component, of equal ones the oldest."""

    def _with(self, items: Sequence[Item]) -> tuple[Item, ...]:
        return tuple(sorted((*self.items, *items), key=lambda item: int(item[0])))
