"""Sharing memory between values of a plan: which can be one storage, and where storages lie.

Values that hold the same bytes share a storage: a reshaped tensor its source's, a variable's new
version the old one's where nobody reads that any more, an elementwise result that of an input
that nobody else reads, a part its whole's. Storages whose lives do not overlap share memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, pairwise

from gradstep.core.engine.memory.record_layout import ALIGNMENT
from gradstep.core.engine.memory.storage_views import StorageView
from gradstep.core.engine.plan.execution_plan import Blocked, Plan
from gradstep.core.engine.plan.plan_rewrites import live_out
from gradstep.core.engine.plan.steps import Step


@dataclass(eq=False, slots=True)
class Storage:
    """Memory for some values. stop: the last step that needs it, past the last one for what is
    looked at after the run. variable: it is that variable's own, and lies outside the arena."""

    size: int
    start: int
    stop: int = -1
    variable: str = ""
    offset: int = -1


def share(
    plan: Plan,
    last: Sequence[int],
    size_of: Callable[[int], int | None],
    parts: Mapping[int, StorageView],
) -> dict[int, Storage]:
    """Value -> its storage, for the values that `size_of` gives a size in bytes. last: the values'
    `last_uses`. parts: those that lie in others; the storage is that of the whole, which is in use
    as long as any part is."""
    return _Sharing(plan, last, size_of, parts).run()


class _Sharing:
    def __init__(
        self,
        plan: Plan,
        last: Sequence[int],
        size_of: Callable[[int], int | None],
        parts: Mapping[int, StorageView],
    ) -> None:
        self.plan = plan
        self.last = last
        self.size_of = size_of
        self.parts = parts
        self.found: dict[int, Storage] = {}

    def run(self) -> dict[int, Storage]:
        for name, versions in self.plan.versions.items():
            if (size := self.size_of(versions[0])) is not None:
                self._join(versions[0], Storage(size, -1, variable=name))
        for index, step in enumerate(self.plan.steps):
            inputs = _Inputs(self.plan, step, self.found)
            for position, value in enumerate(step.writes):
                whole = self.parts[value].whole if value in self.parts else value
                size = self.size_of(whole)
                if size is not None:
                    there = self.found.get(whole)
                    if there is None and whole == value:
                        there = self._storage_for(index, inputs, position, size)
                    self.found[whole] = there = there or Storage(size, index)
                    self._join(value, there)
        for run in self.plan.blocked:
            self._hold(run)
        return self.found

    def _hold(self, run: Blocked) -> None:
        """What a blocked run works on in full is in use from its first step to its last: each
        block reads and writes some of it."""
        inside = internal(self.plan, run, self.last)
        for step in self.plan.steps[run.start : run.stop]:
            for value in (*step.reads, *step.writes):
                storage = self.found.get(value)
                if storage is not None and value not in inside:
                    storage.start = min(storage.start, run.start)
                    storage.stop = max(storage.stop, run.stop - 1)

    def _join(self, value: int, storage: Storage) -> None:
        storage.stop = max(storage.stop, self.last[value], storage.start)
        self.found[value] = storage

    def _storage_for(self, index: int, inputs: _Inputs, position: int, size: int) -> Storage | None:
        """An input's storage that output `position` of step number `index` may take over."""
        step = inputs.step
        if step.keeps_bytes:
            storage = self._same(step.reads[0], size)
            if storage is None and position:
                storage = self._same(step.writes[0], size)
            return None if storage and self._changes(storage, step, position) else storage
        for read in inputs.overwritable(position):
            storage = self._same(read, size)
            if storage is None or inputs.has_twice(storage):
                continue
            if self._is_free_after(storage, index, inputs):
                return storage
        return None

    def _same(self, value: int, size: int) -> Storage | None:
        storage = None if value in self.parts else self.found.get(value)
        return storage if storage is not None and storage.size == size else None

    def _changes(self, storage: Storage, step: Step, position: int) -> bool:
        """Whether `storage` is a variable's and will hold another version when the run is over
        and this output is looked at."""
        versions = self.plan.versions.get(storage.variable, ())
        over = self.last[step.writes[position]] >= len(self.plan.steps)
        return over and len(versions) > 1

    def _is_free_after(self, storage: Storage, index: int, inputs: _Inputs) -> bool:
        """Whether nobody reads what is there once the step is done. A variable's memory is its own
        new version's alone."""
        if storage.stop > index:
            return False
        return not storage.variable or storage.variable in inputs.written


class _Inputs:
    """What a step reads, as to what it may write over. Like operations that are done at once are
    one step with very many inputs and outputs: what is asked for each output is found once."""

    def __init__(self, plan: Plan, step: Step, found: Mapping[int, Storage]) -> None:
        self.plan, self.step = plan, step
        self._found = found

    def has_twice(self, storage: Storage) -> bool:
        """Whether a kernel that writes over some input while it works has it as another, too, or
        of like operations one as what another has."""
        step = self.step
        at_once = step.definition is not None and step.definition.in_place is None
        if step.definition is None or (at_once and step.times == 1):
            return False
        return self._counts[storage] > 1

    def overwritable(self, position: int) -> Iterable[int]:
        """Values that the step may overwrite with its output `position`."""
        plan, step = self.plan, self.step
        allowed = None if step.definition is None else step.definition.in_place
        reads = step.reads
        if step.times > 1:
            reads, _ = self._parts[position * step.times // len(step.writes)]
        reads = reads if allowed is None else tuple(reads[i] for i in allowed)
        value = plan.values[step.writes[position]]
        if value.variable:
            return [r for r in reads if plan.values[r].variable == value.variable]
        # What else is read from the same memory at another offset would be spoilt, and one output
        # by the next; so one input, of the very same type, and for one output.
        if len(step.writes) > 1:
            return ()
        return [r for r in reads if plan.values[r].type == value.type]

    @cached_property
    def written(self) -> frozenset[str]:
        """The variables that the step writes; "" for what is none's."""
        return frozenset(self.plan.values[w].variable for w in self.step.writes)

    @cached_property
    def _counts(self) -> Counter[Storage]:
        """How many inputs lie in each storage."""
        there = map(self._found.get, self.step.reads)
        return Counter(storage for storage in there if storage is not None)

    @cached_property
    def _parts(self) -> Sequence[tuple[tuple[int, ...], tuple[int, ...]]]:
        return self.step.parts


def internal(plan: Plan, run: Blocked, last: Sequence[int]) -> set[int]:
    """Values that only the steps of a blocked run make and read: one block of them is enough."""
    made = {v for step in plan.steps[run.start : run.stop] for v in step.writes}
    return {v for v in made if last[v] < run.stop}


def last_uses(plan: Plan) -> list[int]:
    """For each value, the last step that reads it; -1: none; past the end: after the run."""
    last = [-1] * len(plan.values)
    for index, step in enumerate(plan.steps):
        for value in step.needs:
            last[value] = index
    for (
        versions
    ) in plan.versions.values():  # what a variable holds if the run fails before the next
        for version, following in pairwise(versions):
            last[version] = max(last[version], plan.made_by[following])
    for value in live_out(plan):
        last[value] = len(plan.steps)
    return last


def allocate(storages: Mapping[int, Storage], rows: Sequence[Sequence[Storage]] = ()) -> int:
    """Give each storage its offset in an arena; the arena's size. Memory is taken over from
    storages of the same size, of which networks have many, so that this takes linear time.
    Those of variables lie elsewhere. rows: storages that lie side by side."""
    alone = dict.fromkeys(s for s in storages.values() if not s.variable)
    for storage in chain.from_iterable(rows):
        del alone[storage]
    free: dict[int, list[int]] = {}
    busy: list[tuple[int, int, int]] = []  # stop, offset, size
    end = 0
    for row in sorted((*rows, *([s] for s in alone)), key=_start):
        while busy and busy[0][0] < _start(row):
            _, offset, size = heappop(busy)
            heappush(free.setdefault(size, []), offset)
        size = _aligned(sum(s.size for s in row))
        if free.get(size):
            offset = heappop(free[size])
        else:
            offset, end = end, end + size
        heappush(busy, (max(s.stop for s in row), offset, size))
        for storage in row:
            storage.offset, offset = offset, offset + storage.size
    return end


def _start(row: Sequence[Storage]) -> int:
    return min(storage.start for storage in row)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
