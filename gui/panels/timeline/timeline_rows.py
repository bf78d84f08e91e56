"""What the timeline says: the steps of a run, grouped by the forward operation they belong to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import add, attrgetter
from typing import NamedTuple, overload

from gradstep.core.graph.model import Graph
from gradstep.core.persistent.sequence_places import changed_places, common_ends
from gradstep.core.protocol.messages import ProgramInfo, StepInfo
from gradstep.core.protocol.vocabulary import PhaseName
from gradstep.gui.model.program_index import (
    EARLIER,
    ProgramIndex,
    Stretch,
    find_breaks,
    find_phases,
)
from gradstep.gui.panels.timeline.foreign_rows import ForeignRows

FEW = 64  # rows, of which each step is looked up by itself where it is
_TYPE, _ORIGIN, _PHASE = attrgetter("type"), attrgetter("origin"), attrgetter("phase")


@dataclass(frozen=True, slots=True)
class StepRow:
    """Plan steps `start` (included) to `stop` (excluded) of every run.

    node: the forward operation, or for an update the variable, that the user knows it by.
    type: its op type. told: the operations whose steps say what happened. refs: tensors whose
    values are the result. custom: override in force. label: what it is called, if not by its node
    and type.
    """

    start: int
    stop: int
    phase: str
    node: str
    type: str
    told: tuple[str, ...]
    refs: tuple[str, ...]
    custom: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        return self.label or f"{self.node} ({self.type})"

    def holds(self, step: int) -> bool:
        """Whether the debugger, having executed `step` steps, stands at or inside this row."""
        return self.start <= step < self.stop


class Rows(Sequence[StepRow]):
    """The rows of a run's steps, each made when it is looked at.

    starts: the first plan step of each row; stop: how many plan steps a run has.
    """

    def __init__(self, steps: Sequence[StepInfo], starts: Sequence[int]) -> None:
        self.steps = steps
        self.starts = starts
        self.stop = len(steps)
        self._made: dict[int, StepRow] = {}

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, number: int) -> StepRow: ...
    @overload
    def __getitem__(self, number: slice) -> list[StepRow]: ...
    def __getitem__(self, number: int | slice) -> StepRow | list[StepRow]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        found = self._made.get(number)
        if found is None:
            place = range(len(self))[number]
            found = self._made[place] = self.make(place)
        return found

    def make(self, number: int) -> StepRow:
        raise NotImplementedError

    @property
    def longest_name(self) -> int:
        """Characters of the longest operation's name and type, as a row says them."""
        return max((len(f"{s.op} ({s.type})") for s in self.steps), default=0)

    def at(self, step: int) -> int:
        """Number of the row that holds `step`; the number of rows at the end of the run."""
        return len(self) if step >= self.stop else bisect_right(self.starts, step) - 1

    @cached_property
    def phases(self) -> Sequence[Stretch]:
        """The stretches of steps of one phase."""
        return find_phases(self.steps)


class StepRows(Rows):
    """One row for each operation that runs."""

    def __init__(self, steps: Sequence[StepInfo]) -> None:
        super().__init__(steps, range(len(steps)))

    def make(self, number: int) -> StepRow:
        s = self.steps[number]
        return StepRow(number, number + 1, s.phase, s.op, s.type, (s.op,), tuple(s.outputs))


class _Grouping(NamedTuple):
    """Where the rows of some steps begin, and how long what they say is. scopes: of ForeignRows."""

    steps: Sequence[StepInfo]
    scopes: Mapping[str, str]
    starts: Sequence[int]
    lengths: Sequence[int]

    def is_of(self, steps: Sequence[StepInfo], foreign: ForeignRows) -> bool:
        """Whether these steps are grouped in the same way."""
        return (self.steps is steps or self.steps == steps) and self.scopes == foreign.scopes


class GroupRows(Rows):
    """One row for each forward operation, its gradient, and each variable's update."""

    def __init__(
        self,
        program: ProgramInfo,
        index: ProgramIndex | None = None,
        before: Rows | None = None,
        foreign: ForeignRows | None = None,
    ) -> None:
        """index: of the program, where somebody has it. before: of the program that an edit made
        this one of: what the edit did not touch is taken over; all, where it was undone, of the one
        before that. foreign: what of a traced graph has one row."""
        self._foreign = foreign or ForeignRows(Graph())
        self._index = index or ProgramIndex(program)
        self._program = program
        self._lengths: Sequence[int] = ()
        known = before._known if isinstance(before, GroupRows) else ()
        steps, foreign = program.steps, self._foreign
        same = next((each for each in known if each.is_of(steps, foreign)), None)
        if same is not None:
            super().__init__(steps, same.starts)
            self._lengths = same.lengths
        else:
            self._find(steps, before)
        # No rows, which hold a program, and those before them: the one of each edit would stay.
        now = _Grouping(steps, foreign.scopes, self.starts, self._lengths)
        self._known: tuple[_Grouping, ...] = (now, *known)[:EARLIER]

    def _find(self, steps: Sequence[StepInfo], before: Rows | None) -> None:
        if isinstance(before, GroupRows) and before.stop == len(steps):
            places = changed_places(before.steps, steps)
            if places is not None:
                super().__init__(steps, before.starts)
                self._lengths = before._lengths
                self._put(places)
                return
        first = last = 0  # how many steps at both ends are the same
        if isinstance(before, GroupRows):
            first, last = common_ends(before.steps, steps)
        stop = len(steps) - last
        starts = _starts(steps, first, min(stop + 1, len(steps)), self._foreign.keys)
        super().__init__(steps, starts)
        if isinstance(before, GroupRows):
            self._take_over(before, first, last)
        else:
            self._lengths = self._measure(range(len(starts)))

    def _put(self, places: Sequence[int]) -> None:
        """Other steps are at these places than before the edit: rows begin or end there, and
        nowhere else, where they did not before."""
        starts, lengths = [*self.starts], [*self._lengths]
        for place in sorted({p for i in places for p in (i, i + 1) if 0 < p < self.stop}):
            at = bisect_left(starts, place)
            was = at < len(starts) and starts[at] == place
            if self._kind(place - 1) != self._kind(place):
                if not was:
                    starts.insert(at, place)
                    lengths.insert(at, 0)
            elif was:
                del starts[at], lengths[at]
        self.starts, self._lengths = starts, lengths
        around = {p for i in places for p in (i - 1, i, i + 1) if 0 <= p < self.stop}
        for row in {*map(self.at, around)}:
            (lengths[row],) = self._measure(range(row, row + 1))

    def _kind(self, place: int) -> tuple[str, PhaseName]:
        """What the steps of a row have in common."""
        step = self.steps[place]
        return self._foreign.key(step.origin), step.phase

    def _take_over(self, before: GroupRows, first: int, last: int) -> None:
        """Rows of steps that are the same at both ends; `starts` has those between."""
        old, by = before.starts, self.stop - before.stop
        head = bisect_left(old, first)
        tail = bisect_right(old, before.stop - last)
        between, kept = [*self.starts], old[tail:]
        self.starts = [*old[:head], *between, *(kept if not by else [s + by for s in kept])]
        sure = max(head - 1, 0)  # the last of them may go on in what changed
        measured = self._measure(range(sure, head + len(between)))
        self._lengths = [*before._lengths[:sure], *measured, *before._lengths[tail:]]

    def _measure(self, rows: range) -> list[int]:
        """Characters of what these rows say: the operation that their steps were made for, or the
        last of them, and its type."""
        ends = [*self.starts[rows.start + 1 : rows.stop + 1]]
        if len(ends) < len(rows):
            ends.append(self.stop)
        steps = tuple(self.steps) if len(ends) > FEW else self.steps
        lasts = [steps[stop - 1] for stop in ends]
        names = [step.origin or step.op for step in lasts]
        types = map(_TYPE, map(self._index.steps.getter, names, lasts))
        return [*map(add, map(len, names), map(len, types))]

    @property
    def longest_name(self) -> int:
        """As a row says it."""
        return max(self._lengths, default=0) + len(" ()")

    @property
    def phases(self) -> Sequence[Stretch]:
        return self._index.phases

    def make(self, number: int) -> StepRow:
        start = self.starts[number]
        stop = self.starts[number + 1] if number + 1 < len(self) else self.stop
        row = _group(self.steps[start:stop], start, self._index, self._program)
        key = self._foreign.key(row.node)
        label, result = self._foreign.label(key), self._foreign.result(key)
        told = self._index.steps.get(result)
        if told is None or row.phase != "forward":
            return replace(row, label=label)
        return replace(row, label=label, node=result, told=(result,), refs=tuple(told.outputs[:1]))


def _starts(
    steps: Sequence[StepInfo],
    first: int,
    stop: int,
    whole: Callable[[Iterable[str]], Iterable[str]],
) -> list[int]:
    """From `first` to before `stop`, where steps begin that were made for another operation, or
    that are of another phase."""
    before = max(first - 1, 0)
    part = steps[before:stop]
    kinds = [*zip(whole(map(_ORIGIN, part)), map(_PHASE, part), strict=True)]
    starts = [0] if first == 0 < stop else []
    return [*starts, *map(before.__add__, find_breaks(kinds))]


def _group(
    steps: Sequence[StepInfo],
    start: int,
    index: ProgramIndex,
    program: ProgramInfo,
) -> StepRow:
    last, gradients = steps[-1], index.gradients
    telling = _telling(steps, gradients)
    refs = dict.fromkeys(r for s in telling for r in s.outputs)
    if last.phase == "backward":
        refs = dict.fromkeys(r for r in refs if r in gradients)
    node = last.origin or last.op
    own = index.steps.get(node)
    return StepRow(
        start,
        start + len(steps),
        last.phase,
        node,
        last.type if own is None else own.type,
        tuple(s.op for s in telling),
        (f"{node}:0",) if last.phase == "update" and own is not None else tuple(refs),
        program.custom.get(node, "") if last.phase == "backward" else "",
    )


def _telling(steps: Sequence[StepInfo], gradients: Container[str]) -> Sequence[StepInfo]:
    """The steps that make a gradient or update a variable; the others only prepare for them."""
    telling = [s for s in steps if s.writes or any(r in gradients for r in s.outputs)]
    return telling if telling and steps[-1].phase != "forward" else steps[-1:]
