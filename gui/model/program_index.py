"""What views look up in a program, by name; each index is made when it is first asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, count, islice, pairwise
from operator import attrgetter, ne
from typing import Any, NamedTuple, TypeVar

from gradstep.core.graph.model import Edge
from gradstep.core.persistent.edited_sequence import replaced
from gradstep.core.persistent.joined_sequence import arranged, in_parts
from gradstep.core.persistent.sequence_places import changed_places, common_ends
from gradstep.core.protocol.messages import EdgeGradient, ProgramInfo, StepInfo
from gradstep.core.protocol.vocabulary import PhaseName
from gradstep.gui.model.amended_collections import FEW, AmendedDict

_OP, _PHASE, _WRITES = attrgetter("op"), attrgetter("phase"), attrgetter("writes")
_INDEX, _GRADIENT = attrgetter("index"), attrgetter("gradient")
E = TypeVar("E")
K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
EARLIER = 2  # programs; an undone edit leads to the second


class Stretch(NamedTuple):
    """Steps of one phase that follow each other: from `start` to before `stop`."""

    phase: PhaseName
    start: int
    stop: int


class Made(NamedTuple):
    """What was found, and the entries that it was made of."""

    entries: Sequence[Any]
    found: Any


class _Either(Container[str]):
    """What is a key of one of two mappings."""

    def __init__(self, one: Mapping[str, int], other: Mapping[str, int]) -> None:
        self._one, self._other = one, other

    def __contains__(self, key: object) -> bool:
        return key in self._one or key in self._other


class ProgramIndex:
    """Of one program; of none everything is empty. before: that of the program which an edit made
    this one of: what the edit did not touch is taken over. So is what there was of the one before
    that, which it is again where an edit was undone."""

    def __init__(self, program: ProgramInfo | None, before: ProgramIndex | None = None) -> None:
        self.program = program
        self._made: dict[str, Made] = {}
        self._earlier: tuple[dict[str, Made], ...] = ()  # the newest first
        if before is not None and program is not None:
            self._earlier = (before._made, *before._earlier)[:EARLIER]
            # What is of the very same entries is there for the next one, too, who asks or not.
            own = program.steps, program.edges
            for made in reversed(self._earlier):
                kept = {what: m for what, m in made.items() if any(m.entries is x for x in own)}
                self._made.update(kept)

    @cached_property
    def steps(self) -> AmendedDict[str, StepInfo]:
        """Operation -> its step."""
        return self._amended("steps", self._steps, _by_op)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Operation -> the number of its step."""
        return dict(zip(self._ops, count(), strict=False))

    @cached_property
    def phases(self) -> Sequence[Stretch]:
        """The stretches of the run."""
        return self._again("phases", self._steps, find_phases, _phases_again)

    @cached_property
    def by_phase(self) -> Mapping[PhaseName, Sequence[str]]:
        """Phase -> the operations whose steps are of it, in their order; the very same names as
        before an edit where these are equal."""
        return self._again("by_phase", self._steps, self._grouped, self._grouped_again)

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
    def carried(self) -> AmendedDict[Edge, str]:
        """Wire -> the tensor that goes back over it."""
        edges = () if self.program is None else self.program.edges
        return self._amended("carried", edges, _carried)

    @cached_property
    def waiting(self) -> Mapping[Edge, str]:
        """Wire over which nothing comes back yet -> what that waits for."""
        edges = () if self.program is None else self.program.waiting_edges
        return {Edge(edge.op, edge.index): edge.why for edge in edges}

    @cached_property
    def gradients(self) -> Container[str]:
        """The tensors that are the gradient of an operation's output, or go back over a wire."""
        if self.program is None:
            return ()
        holders = [*self.program.gradients.values()]
        of = self._amended("gradients", holders, Counter, _recount)
        over = self._amended("edges", self.program.edges, _gradients, _recount)
        return _Either(of, over)

    def _grouped(self, steps: Sequence[StepInfo]) -> dict[PhaseName, Sequence[str]]:
        found: dict[PhaseName, list[Sequence[str]]] = {}
        for phase, start, stop in self.phases:
            found.setdefault(phase, []).append(self._ops[start:stop])
        return {phase: arranged(stretches) for phase, stretches in found.items()}

    def _grouped_again(
        self,
        old: Sequence[StepInfo],
        before: Mapping[PhaseName, Sequence[str]],
        now: Sequence[StepInfo],
    ) -> dict[PhaseName, Sequence[str]]:
        """_grouped(now), with what is equal in `before`."""
        found = self._grouped(now)
        return found | {phase: ops for phase, ops in before.items() if found.get(phase) == ops}

    @property
    def _steps(self) -> Sequence[StepInfo]:
        return () if self.program is None else self.program.steps

    @cached_property
    def _ops(self) -> Sequence[str]:
        """The operations whose steps they are."""
        return self._again("ops", self._steps, _ops, _ops_again)

    def _amended(
        self,
        what: str,
        now: Sequence[E],
        make: Callable[[Sequence[E]], dict[K, V]],
        exchange: Callable[[AmendedDict[K, V], dict[K, V], dict[K, V]], AmendedDict[K, V]] = (
            AmendedDict.amended
        ),
    ) -> AmendedDict[K, V]:
        """make(now), made of the earlier one of that name where that was of nearly the same
        entries: by `exchange`, of it, of what is gone, and of what came instead."""

        def afresh(now: Sequence[E]) -> AmendedDict[K, V]:
            return AmendedDict(make(now))

        def again(
            old: Sequence[E], found: AmendedDict[K, V], now: Sequence[E]
        ) -> AmendedDict[K, V]:
            if old is now:
                return found
            gone, come = _exchanged(old, now)
            if (len(gone) + len(come)) * FEW > len(now):
                return afresh(now)
            return exchange(found, make(gone), make(come))

        return self._again(what, now, afresh, again)

    def _again(
        self,
        what: str,
        now: Sequence[E],
        afresh: Callable[[Sequence[E]], T],
        again: Callable[[Sequence[E], T, Sequence[E]], T],
    ) -> T:
        """afresh(now); where there is an earlier one of that name, what `again` makes of its
        entries, of it, and of the entries that there are now."""
        known = [made[what] for made in self._earlier if what in made]
        same = next((each for each in known if each.entries is now or each.entries == now), None)
        found: T
        if same is not None:
            found = same.found
        else:
            found = again(*known[0], now) if known else afresh(now)
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


def _by_op(steps: Sequence[StepInfo]) -> dict[str, StepInfo]:
    return dict(zip(map(_OP, steps), steps, strict=True))


def _carried(edges: Sequence[EdgeGradient]) -> dict[Edge, str]:
    wires = Edge.many(map(_OP, edges), map(_INDEX, edges))
    return dict(zip(wires, map(_GRADIENT, edges), strict=True))


def _ops(steps: Sequence[StepInfo]) -> Sequence[str]:
    return in_parts([*map(_OP, steps)])


def _gradients(edges: Iterable[EdgeGradient]) -> dict[str, int]:
    return Counter(map(_GRADIENT, edges))


def _ops_again(
    old: Sequence[StepInfo], ops: Sequence[str], now: Sequence[StepInfo]
) -> Sequence[str]:
    """_ops(now); `ops` is that of `old`."""
    places = changed_places(old, now)
    if places is None:
        first, last = common_ends(old, now)
        between = _ops(now[first : len(now) - last])
        return arranged([ops[:first], between, ops[len(old) - last :]])
    return replaced(ops, {place: now[place].op for place in places})


def _phases_again(
    old: Sequence[StepInfo], stretches: list[Stretch], now: Sequence[StepInfo]
) -> list[Stretch]:
    """find_phases(now); `stretches` is that of `old`."""
    places = changed_places(old, now)
    if places is not None and all(old[place].phase == now[place].phase for place in places):
        return stretches
    first, last = common_ends(old, now)
    stop, by = len(now) - last, len(now) - len(old)
    found = [s._replace(stop=min(s.stop, first)) for s in stretches if s.start < first]
    between = (Stretch(p, a + first, b + first) for p, a, b in find_phases(now[first:stop]))
    after = (Stretch(p, max(a + by, stop), b + by) for p, a, b in stretches if b + by > stop)
    for each in (*between, *after):
        if found and found[-1].phase == each.phase:
            found[-1] = found[-1]._replace(stop=each.stop)
        else:
            found.append(each)
    return found


def _recount(
    counts: AmendedDict[str, int], gone: dict[str, int], come: dict[str, int]
) -> AmendedDict[str, int]:
    """The same of counts."""
    names = gone.keys() | come.keys()
    now = {n: counts.get(n, 0) - gone.get(n, 0) + come.get(n, 0) for n in names}
    return counts.amended(names, {name: count for name, count in now.items() if count})


def _exchanged(old: Sequence[E], now: Sequence[E]) -> tuple[Sequence[E], Sequence[E]]:
    """What the one has in the place of what the other has; all else is the same in both."""
    places = changed_places(old, now)
    if places is not None:
        return [old[i] for i in places], [now[i] for i in places]
    first, last = common_ends(old, now)
    return old[first : len(old) - last], now[first : len(now) - last]
