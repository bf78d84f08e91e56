"""What a queue holds, as one value that never changes: putting in and taking out give another.

Rules, errors and their words are TensorFlow's (fifo_queue.cc, queue_base.cc). An operation that
would have to wait raises WouldBlockError, which carries what it has done by then: TensorFlow puts
in and takes out what it can while it waits for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from typing import Any, Self

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.state.opaque_state import SHOWN, OpaqueState, short

Item = tuple[Any, ...]  # one array for each component


@dataclass(frozen=True, slots=True)
class Partial:
    """What an operation that waits has done: what it has taken, or how much it has put in."""

    taken: tuple[Item, ...] = ()
    put: int = 0

    @property
    def progress(self) -> int:
        """How many elements it has moved."""
        return len(self.taken) + self.put


class WouldBlockError(GradstepError):
    """An operation has to wait for others. lack: why; waits_for: "put" or "take", what others have
    to do there; left: the queue as it leaves it; partial: what it has done."""

    def __init__(self, lack: str, waits_for: str, left: Queue, partial: Partial) -> None:
        super().__init__(f"would block: {lack}", kind="DeadlineExceededError")
        self.lack = lack
        self.waits_for = waits_for
        self.left = left
        self.partial = partial


@dataclass(frozen=True, eq=False)
class Queue(OpaqueState):
    """First in, first out.

    type, name: as errors call it. capacity: how many elements it takes, -1 for any number.
    shapes: of the components of an element; none where they are not said.
    cancelled: it was closed such that who waits to put something in is sent away.
    partial: what the operation that works on it next has done before.
    """

    type: str
    name: str
    capacity: int
    dtypes: tuple[DType, ...]
    shapes: tuple[Shape, ...] = ()
    items: tuple[Item, ...] = ()
    closed: bool = False
    cancelled: bool = False
    partial: Partial | None = None

    # -- looking -----------------------------------------------------------------------------

    @property
    def storage(self) -> str:
        """The name under which it is kept, as the user wrote it: TensorFlow puts a number before
        it."""
        return self.name.removeprefix("_0_")

    @property
    def nbytes(self) -> int:
        return sum(int(x.nbytes) for item in self.items for x in item)

    def beyond(self, before: Any) -> int:
        known = {id(item) for item in before.items} if isinstance(before, Queue) else ()
        new = (item for item in self.items if id(item) not in known)
        return sum(int(x.nbytes) for item in new for x in item)

    @property
    def limit(self) -> float:
        return inf if self.capacity < 0 else self.capacity

    @property
    def available(self) -> int:
        """How many elements may be taken now."""
        return len(self.items)

    @property
    def filling(self) -> str:
        """How full it is, in words: "3 of 8"."""
        return str(len(self.items)) + ("" if self.capacity < 0 else f" of {self.capacity}")

    def __str__(self) -> str:
        shown = [_item_text(item) for item in islice(self.items, SHOWN)]
        more = ", …" if len(self.items) > SHOWN else ""
        closed = ", closed" if self.closed else ""
        return f"{self.filling}{closed}: [{', '.join(shown)}{more}]"

    # -- working -----------------------------------------------------------------------------

    def put(self, items: Sequence[Item]) -> Self:
        """With these in it, too."""
        if not items:
            return self
        before = self.partial
        if self.closed and before is None:
            raise GradstepError(
                f"{self.type} '{self.name}' is closed.",
                kind="CancelledError",
                hint="enqueue before the queue is closed; it cannot be opened again",
            )
        if self.cancelled:
            raise GradstepError(
                "Enqueue operation was cancelled",
                kind="CancelledError",
                hint="the queue was closed with cancel_pending_enqueues; without it, what waits is "
                "still put in",
            )
        done = 0 if before is None else before.put
        room = int(min(self.limit - len(self.items), len(items) - done))
        left = replace(self, items=self._with(items[done : done + room]), partial=None)
        if done + room == len(items):
            return left
        what = f"queue '{self.storage}' is full ({left.filling})"
        if done + room:
            what += f", {len(items) - done - room} of {len(items)} are still to be put in"
        raise WouldBlockError(what, "take", left, Partial(put=done + room))

    def take(self, count: int, or_less: bool = False) -> tuple[tuple[Item, ...], Self]:
        """`count` elements and what is left then; of a closed queue with `or_less` what there
        is."""
        before = () if self.partial is None else self.partial.taken
        wanted = count - len(before)
        if self.closed and len(self.items) < wanted:
            wanted = self._rest(count, len(before), or_less)
        ready = min(wanted, self.available)
        taken, left = replace(self, partial=None)._taken(ready)
        if ready == wanted:
            return (*before, *taken), left
        partial = Partial((*before, *taken))
        raise WouldBlockError(self._lack(count, len(partial.taken)), "put", left, partial)

    def close(self, cancel: bool) -> Self:
        """Nothing can be put in any more. cancel: not even by those who wait for room."""
        if self.closed:
            raise GradstepError(
                f"Queue '{self.name}' is already closed.",
                kind="CancelledError",
                hint="close it once; a session that starts anew has it open again",
            )
        return replace(self, closed=True, cancelled=cancel)

    def given_back(self, partial: Partial) -> Self:
        """With what an operation had taken before it failed in it again."""
        return replace(self, items=(*partial.taken, *self.items), partial=None)

    def _rest(self, count: int, taken: int, or_less: bool) -> int:
        """How many more elements to take of a closed queue that has too few."""
        there = len(self.items) + taken
        if or_less and there:
            return len(self.items)
        raise GradstepError(
            f"{self.type} '{self.name}' is closed and has insufficient elements "
            f"(requested {count}, current size {there})",
            kind="OutOfRangeError",
            hint="nothing more will come: this is how the end of the data is told",
        )

    def _lack(self, count: int, taken: int) -> str:
        return f"queue '{self.storage}' has {taken} of {count} element{'s'[: count > 1]}"

    # -- what kinds of queues differ in ------------------------------------------------------

    def _with(self, items: Sequence[Item]) -> tuple[Item, ...]:
        return (*self.items, *items)

    def _taken(self, count: int) -> tuple[tuple[Item, ...], Self]:
        return self.items[:count], replace(self, items=self.items[count:])


def _item_text(item: Item) -> str:
    parts = [short(x) for x in item]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
