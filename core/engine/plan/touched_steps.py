"""Which steps of a plan an edit may have touched, so that all others are taken over unseen.

A step has to be looked at when its operation is another, when a value that it reads may be another,
and when it deals with a variable that a step before it, which has to be looked at, writes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gradstep.core.engine.plan.steps import PlanValue, Step
from gradstep.core.graph.model import TensorRef
from gradstep.core.persistent.edited_sequence import exchanged
from gradstep.core.persistent.overlaid_mapping import overlaid
from gradstep.core.persistent.sequence_places import common_ends

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan
    from gradstep.core.engine.plan.pruning import Needed

_T = TypeVar("_T")
# A value that is no variable's; a variable, by the name of its storage; that it is written.
Used = int | str | tuple[str]
Users = Mapping[Used, tuple[str, ...]]  # the operations of the steps that deal with each
_Where = Mapping[str, tuple[int | str | None, ...]]
_AT_ONCE = 2_000  # steps, which take some milliseconds


def used_by(step: Step, values: Sequence[PlanValue], where: _Where) -> set[Used]:
    """What a step deals with: what it reads, and the variables that it writes or stands for."""
    found: set[Used] = {v if values[v].output >= 0 else values[v].name for v in step.reads}
    if step.plain:
        return found
    for value in step.writes:
        if name := values[value].variable:
            found |= {name, (name,)}
    for place in where.get(step.op.name, ()):
        if isinstance(place, str):
            found.add(place)
    return found


def find_users(
    steps: Sequence[Step], values: Sequence[PlanValue], where: _Where
) -> Generator[None, None, Users]:
    """Who deals with what, in a whole plan: for one who has time, some steps at a time."""
    found: dict[Used, list[str]] = {}
    for start in range(0, len(steps), _AT_ONCE):
        for step in steps[start : start + _AT_ONCE]:
            for used in used_by(step, values, where):
                found.setdefault(used, []).append(step.op.name)
        yield
    users: dict[Used, tuple[str, ...]] = {}
    alike: dict[tuple[str, ...], tuple[str, ...]] = {}  # mostly one operation, and that often
    rows = zip(found, map(tuple, found.values()), strict=True)
    while some := [*islice(rows, 5 * _AT_ONCE)]:
        users.update((used, alike.setdefault(names, names)) for used, names in some)
        yield
    return users


class Exchanged(NamedTuple):
    """How a plan after an edit differs from the one before it. gone, new: steps that only the one
    has, or only the other; opened: variables whose versions may be others; versions: those before.
    before: the steps of that plan; places: of each operation's there; first, last: so many steps
    both begin with, and end with. moved: operations whose outputs are not where they were; flipped:
    those outputs that are there and were not, or the other way round.
    """

    gone: frozenset[Step]
    new: frozenset[Step]
    opened: frozenset[str]
    versions: Mapping[str, tuple[int, ...]]
    before: Sequence[Step]
    places: Mapping[str, int]
    first: int
    last: int
    moved: frozenset[str]
    flipped: frozenset[TensorRef]

    def ends(self, before: Sequence[Step], steps: Sequence[Step]) -> tuple[int, int]:
        """`common_ends`, which is known if `before` are the steps of that plan."""
        return (self.first, self.last) if before is self.before else common_ends(before, steps)


class TouchedSteps:
    """Those that are still to be looked at, ascending, while looking at one may add others.

    places: of the operations, in the order after the edit. previous: the plan before it. needed:
    what has to run; what has had to then comes as it came. opened: variables that the edit may have
    touched; stored: those that are declared anew. seen: see `note`.
    """

    def __init__(self, places: Mapping[str, int], previous: Plan, needed: Needed) -> None:
        self.places, self.place = places, 0
        self._left, self._entries = needed.left, needed.entries
        self.previous = previous
        self.seen: set[str] = set()  # operations whose steps were looked at, or are gone
        self._before = previous.users
        self._less: dict[Used, set[str]] = {}  # users that are none any more
        self._more: dict[Used, list[str]] = {}
        self._queue: list[int] = []
        self._queued: set[int] = set()
        self.opened: set[str] = set()
        self.stored: set[str] = set()
        self._versions = previous.versions
        self._gone: set[Step] = set()
        self._new: set[Step] = set()

    def arrange(self, rows: Sequence[_T]) -> Sequence[_T | None]:
        """What there was of each step of the plan before, where the steps are now; None of those
        that are new."""
        gone = sorted(map(self.previous.step_of.__getitem__, self._left))
        return exchanged(rows, gone, [(place, None) for place in self._entries.values()])

    def push(self, names: Iterable[str]) -> None:
        """Look at the steps of these operations, if they are still to come."""
        for name in names:
            place = self.places.get(name, -1)
            if place >= self.place and place not in self._queued:
                self._queued.add(place)
                heappush(self._queue, place)

    def push_users(self, used: Used) -> None:
        self.push(self.users_before(used))

    def __iter__(self) -> Iterator[int]:
        while self._queue:
            self.place = heappop(self._queue)
            yield self.place

    def users_before(self, used: Used) -> tuple[str, ...]:
        return self._before.get(used, ())

    def note(self, name: str, then: Step | None, now: Step | None) -> None:
        """The one is in the place of the other."""
        self.seen.add(name)
        if then is not now:
            self._gone.update(() if then is None else (then,))
            self._new.update(() if now is None else (now,))

    def move(self, name: str, then: set[Used], now: set[Used]) -> None:
        """The step of operation `name` deals with other things than before."""
        for used in then - now:
            self._less.setdefault(used, set()).add(name)
        for used in now - then:
            self._more.setdefault(used, []).append(name)

    def exchanged(self, steps: Sequence[Step], where: _Where) -> Exchanged:
        """What has become of the plan before. steps: all there are now; where: what is of each
        operation's outputs."""
        then, there, moved = self.previous.steps, self.previous.tensors.of, self.moved(where)
        return Exchanged(
            frozenset(self._gone - self._new),
            frozenset(self._new - self._gone),
            frozenset(self.opened),
            self._versions,
            then,
            self.previous.step_of,
            *common_ends(then, steps),
            moved,
            frozenset(chain.from_iterable(_flipped(n, there, where) for n in moved)),
        )

    def moved(self, where: _Where) -> frozenset[str]:
        """See Exchanged."""
        there = self.previous.tensors.of
        return frozenset(name for name in self.seen if there.get(name) != where.get(name))

    def lost(self, where: _Where) -> frozenset[TensorRef]:
        """What is not there any more that was. where: see `exchanged`."""
        there = self.previous.tensors.of
        return frozenset(chain.from_iterable(_lost(n, there, where) for n in self.moved(where)))

    @property
    def users(self) -> Users:
        """After the edit."""
        if not self._less and not self._more:
            return self._before
        users = overlaid(self._before)
        for used, gone in self._less.items():
            users[used] = tuple(name for name in users[used] if name not in gone)
        for used, names in self._more.items():
            users[used] = (*users.get(used, ()), *names)
        return users


def _flipped(name: str, then: _Where, now: _Where) -> Iterator[TensorRef]:
    """The outputs of an operation that are there only in the one, or only in the other."""
    yield from _lost(name, then, now)
    yield from _lost(name, now, then)


def _lost(name: str, then: _Where, now: _Where) -> Iterator[TensorRef]:
    """Those that are not there any more."""
    pairs = zip_longest(then.get(name, ()), now.get(name, ()))
    return (TensorRef(name, i) for i, (a, b) in enumerate(pairs) if a is not None and b is None)
