"""What is kept of the iterations of a loop that has run, or is running."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.engine.finished import Record
from core.engine.layout import has_place
from core.engine.loops.iteration import Iteration
from core.engine.opaque import copied
from core.engine.plan import Plan
from core.engine.resolve import Step
from core.errors import GradstepError
from core.graph.model import TensorRef
from core.ops.trace import Trace

if TYPE_CHECKING:
    from core.engine.record import Recording

MOST_BYTES = 1 << 26  # of whole iterations


@dataclass(frozen=True)
class Keeping:
    """What loops keep of each iteration. whole: every value, as far as there is room for them;
    asked: tensors inside loops that are kept in any case, for the way back."""

    whole: bool
    asked: frozenset[TensorRef]


def asked_of(plan: Plan) -> frozenset[TensorRef]:
    """Tensors inside loops that steps of the plan read, or steps of its loops."""
    types = (step.op for step in _steps_within(plan.steps))
    return frozenset(
        TensorRef.parse(op.attrs["tensor"]) for op in types if op.type == "IterationValue"
    )


def _steps_within(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if step.iteration is not None:
            yield from _steps_within(step.iteration.plan.steps)


class LoopTrace(Trace):
    """Of one run of a loop. Iterations count from 0.

    outside: captures that lie outside the iterations, as they are in this run.
    last: the iteration that did not take place, of which only the condition was computed.
    """

    def __init__(self, iteration: Iteration, keeping: Keeping, outside: Mapping[int, Any]) -> None:
        self.iteration = iteration
        self.outside = outside
        self.last: Record | None = None
        self._whole = keeping.whole
        self._asked = _values_of(iteration.plan, keeping.asked)
        self._kept: list[Mapping[int, Any]] = []  # iteration -> values that are asked for
        self._records: dict[int, Record] = {}
        self._kept_bytes = self._record_bytes = 0
        made = iteration.plan.made_by
        unplaced = (i for i, v in enumerate(iteration.plan.values) if not has_place(v))
        self._by_reference = [i for i in unplaced if made[i] >= 0]

    @property
    def iterations(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        return self._kept_bytes + self._record_bytes

    def __str__(self) -> str:
        count = self.iterations
        return f"{count} iteration{'' if count == 1 else 's'}"

    def add(self, recording: Recording) -> None:
        """Keep the iteration that has just been run."""
        xp = recording.backend.xp
        asked = {i: recording.value(i) for i in self._asked}  # what was dead may have none
        values = {i: None if x is None else copied(xp, x) for i, x in asked.items()}
        if self._whole:
            self._record(len(self._kept), recording)
        self._kept.append(values)
        self._kept_bytes += _total(values)

    def end(self, recording: Recording) -> None:
        """Keep what led to there being no further iteration."""
        if self._whole:
            self.last = recording.record()

    def read(self, tensor: TensorRef, iteration: int) -> Any:
        if iteration >= self.iterations:
            raise GradstepError(
                f"'{tensor}' is asked for in iteration {iteration}, and there were "
                f"{self.iterations}",
                kind="InvalidArgumentError",
                node=tensor.op,
                hint="the loop goes round more often once an input is nudged: choose other inputs",
            )
        index = self._index(tensor)
        array = self._kept[iteration].get(index)
        if array is not None:
            return array
        array = self.value(tensor, iteration)
        if array is None:
            raise GradstepError(
                f"'{tensor}' was not kept in iteration {iteration}", kind="InternalError"
            )
        return array

    def keeps(self, iteration: int) -> bool:
        """Whether every value of an iteration that is done is kept, and not only what is asked
        for."""
        return iteration in self._records or (
            iteration == self.iterations and self.last is not None
        )

    def value(self, tensor: TensorRef, iteration: int) -> Any:
        """What a tensor was in an iteration that is done (or was not to be: the last one); None
        where it is not kept any more, or was not computed. A device array, not a copy."""
        return self.held(self._index(tensor), iteration)

    def held(self, index: int, iteration: int) -> Any:
        """Likewise of a value of the iteration's plan."""
        if index in self.outside:
            return self.outside[index]
        plan, split = self.iteration.plan, self.iteration.split
        if iteration == self.iterations:
            there = self.last is not None and plan.made_by[index] < split
            return self.last.value(index) if there and self.last is not None else None
        record = self._records.get(iteration)
        return self._kept[iteration].get(index) if record is None else record.value(index)

    def _index(self, tensor: TensorRef) -> int:
        plan = self.iteration.plan
        where = plan.tensors[tensor]
        return plan.newest(where) if isinstance(where, str) else where

    def _record(self, number: int, recording: Recording) -> None:
        """Keep all of the iteration, in the place of the first ones if there is no room."""
        into, needed = None, recording.layout.size
        while self._records and self._record_bytes + needed > MOST_BYTES:
            into = self._dropped(next(iter(self._records))).arena
        record = self._records[number] = recording.record(into)
        self._record_bytes += self._size(record)

    def _dropped(self, number: int) -> Record:
        """The record of iteration `number`, not kept any more; of loops inside it stays what is
        asked for."""
        dropped = self._records.pop(number)
        self._record_bytes -= self._size(dropped)
        there = self._kept[number]
        left = {i: x._slim() if isinstance(x, LoopTrace) else x for i, x in there.items()}
        self._kept[number] = left
        self._kept_bytes -= _total(there) - _total(left)
        return dropped

    def _slim(self) -> LoopTrace:
        """Only what is asked for."""
        slim = LoopTrace(self.iteration, Keeping(False, frozenset()), {})
        slim._kept = [
            {i: x._slim() if isinstance(x, LoopTrace) else x for i, x in there.items()}
            for there in self._kept
        ]
        slim._kept_bytes = sum(map(_total, slim._kept))
        return slim

    def _size(self, record: Record) -> int:
        """Bytes of what the iteration made itself."""
        others = (record.others.get(i) for i in self._by_reference)
        return record.arena.nbytes + sum(int(x.nbytes) for x in others if x is not None)


def _total(values: Mapping[int, Any]) -> int:
    return sum(int(x.nbytes) for x in values.values() if x is not None)


def _values_of(plan: Plan, tensors: frozenset[TensorRef]) -> tuple[int, ...]:
    """Those of the tensors that the plan computes, as values."""
    found = (plan.tensors.get(ref) for ref in tensors)
    return tuple({plan.newest(x) if isinstance(x, str) else x for x in found if x is not None})
