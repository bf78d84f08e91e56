"""What views look up in a program, by name; each index is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, count, islice, pairwise
from operator import attrgetter, ne
from typing import Any, NamedTuple, TypeVar

from gradstep.core.graph.model import Edge
from gradstep.core.protocol.messages import EdgeGradient, ProgramInfo, StepInfo
from gradstep.core.protocol.vocabulary import PhaseName
from gradstep.core.sequence_places import changed_places, common_ends

_OP, _PHASE, _WRITES = attrgetter("op"), attrgetter("phase"), attrgetter("writes")
E = TypeVar("E")
K = TypeVar("K")
V = TypeVar("V")


class Stretch(NamedTuple):
    """Steps of one phase that follow each other: from `start` to before `stop`."""

    phase: PhaseName
    start: int
    stop: int


class Made(NamedTuple):
    """A mapping, and the entries that it was made of."""

    entries: Sequence[Any]
    mapping: Mapping[Any, Any]


class ProgramIndex:
    """Of one program; of none everything is empty. before: that of the program which an edit made
    this one of: what the edit did not touch is taken over."""

    def __init__(self, program: ProgramInfo | None, before: ProgramIndex | None = None) -> None:
        self.program = program
        self._earlier = {} if before is None or program is None else {**before._made}
        self._made: dict[str, Made] = {}

    @cached_property
    def steps(self) -> Mapping[str, StepInfo]:
        """Operation -> its step."""
        return self._revised("steps", self._steps, _by_op)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Operation -> the number of its step."""
        return dict(zip(map(_OP, self._steps), count(), strict=False))

    @cached_property
    def phases(self) -> Sequence[Stretch]:
        """The stretches of the run."""
        return find_phases(self._steps)

    @cached_property
    def by_phase(self) -> Mapping[PhaseName, Sequence[str]]:
        """Phase -> the operations whose steps are of it, in their order."""
        found: dict[PhaseName, list[str]] = {}
        for phase, start, stop in self.phases:
            found.setdefault(phase, []).extend(map(_OP, self._steps[start:stop]))
        return found

    @cached_property
    def updates(self) -> bool:
        """Whether a run changes a variable."""
        return any(map(_WRITES, reversed(self._steps)))  # which come last

    @cached_property
    def first_steps(self) -> Mapping[PhaseName, int]:
        """Phase -> the number of its first step."""
        return {phase: start for phase, start, _ in reversed(self.phases)}

    def maker(self, tensor: str) -> StepInfo | None:
        """The step that makes a tensor ("a:0")."""
        return self.steps.get(tensor.rpartition(":")[0])

    @cached_property
    def carried(self) -> Mapping[Edge, str]:
        """Wire -> the tensor that goes back over it."""
        edges = () if self.program is None else self.program.edges
        return self._revised("carried", edges, _carried)

    @cached_property
    def waiting(self) -> Mapping[Edge, str]:
        """Wire over which nothing comes back yet -> what that waits for."""
        edges = () if self.program is None else self.program.waiting_edges
        return {Edge(edge.op, edge.index): edge.why for edge in edges}

    @property
    def _steps(self) -> Sequence[StepInfo]:
        return () if self.program is None else self.program.steps

    def _revised(
        self, what: str, now: Sequence[E], pairs: Callable[[Sequence[E]], Iterable[tuple[K, V]]]
    ) -> Mapping[K, V]:
        """dict(pairs(now)), made of the earlier one of that name where that was of nearly the same
        entries."""
        earlier = self._earlier.pop(what, None)
        found = dict(pairs(now)) if earlier is None else _revise(*earlier, now, pairs)
        self._made[what] = Made(now, found)
        return found


def find_phases(steps: Sequence[StepInfo]) -> list[Stretch]:
    """The stretches of some steps."""
    phases = [*map(_PHASE, steps)]
    starts = [0, *find_breaks(phases)] if phases else []
    return [Stretch(phases[a], a, b) for a, b in pairwise([*starts, len(phases)])]


def find_breaks(values: Sequence[object]) -> Iterator[int]:
    """The places of those that differ from the one before them."""
    return compress(count(1), map(ne, values, islice(values, 1, None)))


def _by_op(steps: Sequence[StepInfo]) -> Iterator[tuple[str, StepInfo]]:
    return zip(map(_OP, steps), steps, strict=True)


def _carried(edges: Iterable[EdgeGradient]) -> Iterator[tuple[Edge, str]]:
    return ((Edge(edge.op, edge.index), edge.gradient) for edge in edges)


def _revise(
    old: Sequence[E],
    made: Mapping[K, V],
    now: Sequence[E],
    pairs: Callable[[Sequence[E]], Iterable[tuple[K, V]]],
) -> Mapping[K, V]:
    """dict(pairs(now)); `made` is that of `old`."""
    if old is now:
        return made
    gone, come = _exchanged(old, now)
    if len(gone) + len(come) > len(now):
        return dict(pairs(now))
    found = dict(made)
    for key, _ in pairs(gone):
        found.pop(key, None)
    found.update(pairs(come))
    return found


def _exchanged(old: Sequence[E], now: Sequence[E]) -> tuple[Sequence[E], Sequence[E]]:
    """What the one has in the place of what the other has; all else is the same in both."""
    places = changed_places(old, now)
    if places is not None:
        return [old[i] for i in places], [now[i] for i in places]
    first, last = common_ends(old, now)
    return old[first : len(old) - last], now[first : len(now) - last]
