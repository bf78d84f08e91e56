"""What is kept of the iterations of a loop that has run, or is running.

For the way back some values of each iteration are kept, for who looks whole iterations, the last
ones. What there is no room for is computed again when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.engine.device_transfer import copy_array, size_of
from gradstep.core.engine.loops.given_values import GivenValues
from gradstep.core.engine.loops.iteration_checkpoints import Segment, Segments, Values
from gradstep.core.engine.loops.trace_budget import Charge, Spare
from gradstep.core.engine.loops.trace_retention import Kept
from gradstep.core.engine.memory.run_snapshot import RunSnapshot
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.loop_trace import Trace

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording

MOST_BYTES = 1 << 26  # of whole iterations
_RECORDS = 8  # part of the memory that they may take
_NOTHING: Values = MappingProxyType({})
_LOST = object()  # in place of a value


class LoopTrace(Trace):
    """Of one run of a loop. Iterations count from 0.

    outside: captures that lie outside the iterations, as they are in this run.
    given: what was given by hand in them; None for nothing.
    last: the iteration that did not take place, of which only the condition was computed.
    """

    def __init__(
        self, kept: Kept, outside: Mapping[int, Any], given: GivenValues | None = None
    ) -> None:
        self.iteration = kept.iteration
        self.outside = outside
        self.last: RunSnapshot | None = None
        self._kept = kept
        self._count = 0
        self._is_over = False
        self._charge = Charge(kept.memory, size_of(outside.values()))
        self._segments = Segments(kept, self._charge, given)
        self._latest: Segment | None = None  # that was read last
        self._records: dict[int, RunSnapshot] = {}
        self._sizes: dict[int, tuple[int, int]] = {}  # theirs, and with what loops inside keep
        self._record_bytes = 0
        if kept.memory is not None:
            kept.memory.enter(self)

    @property
    def given(self) -> GivenValues | None:
        return self._segments.given

    @given.setter
    def given(self, given: GivenValues | None) -> None:
        self._segments.given = given

    @property
    def iterations(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """What loops inside keep included."""
        if not self.iteration.plan.loops:
            return self._charge.nbytes
        kept = [v for segment in self._segments.all for v in segment.values or ()]
        made = (self._made(record) for record in self._records.values())
        inside = {
            id(x): x for values in (*(v.values() for v in kept), *made) for x in _traces(values)
        }
        return self._charge.nbytes + sum(trace.nbytes for trace in inside.values())

    def __str__(self) -> str:
        count = self.iterations
        return f"{count} iteration{'' if count == 1 else 's'}"

    # -- keeping ---------------------------------------------------------------------------------

    def add(self, recording: Recording) -> None:
        """Keep the iteration that has just been run. Raises GradstepError where there is no room
        for what the way back needs of it."""
        asked = self._asked_of(recording) if self._kept.asked else _NOTHING
        needed = size_of(asked.values()) if asked else 0
        segment = self._segments.current(self._count, recording, needed, self)
        assert segment.values is not None  # what is added to is not let go of
        if needed:
            if not self._has_room(needed):
                raise self._no_room(needed)
            segment.nbytes += needed
            self._charge.add(needed)
        segment.values.append(_copies(asked, recording) if asked else _NOTHING)
        if self._kept.whole:
            self._record(self._count, recording)
        self._count += 1

    def end(self, recording: Recording) -> None:
        """Keep what led to there being no further iteration."""
        self._is_over = True
        if not self._count:
            self._segments.current(0, recording, 0, self)
        if self._kept.whole and self._has_room(recording.layout.size):
            self.last = recording.record()
            self._charge.add(self.last.arena.nbytes + size_of(self._made(self.last)))

    def shrink(self, what: Spare) -> bool:
        """See Shrinking. Of iterations that are added to nothing is let go of."""
        if what is Spare.RECORDS:
            for number in [*self._records][:1]:
                self._drop(number)
                return True
            return False
        for segment in self._segments.all[: None if self._is_over else -1]:
            is_latest = segment is self._latest
            if (
                segment.variables is not None
                and segment.values
                and is_latest == (what is Spare.LATEST)
            ):
                segment.values = None
                self._charge.add(-segment.nbytes)
                return True
        return False

    def forget_records(self) -> None:
        """Keep no whole iterations."""
        for number in [*self._records]:
            self._drop(number)

    def until(self, number: int, kept: Kept, given: GivenValues | None) -> LoopTrace:
        """What is kept of the iterations before that one, for a run that goes on from there. Raises
        GradstepError where there is no room for it."""
        if number:
            self._asked(number - 1)
        other = LoopTrace(kept, self.outside, given)
        other._count = number
        other._segments = self._segments.until(number, other._charge, given)
        other._records = {n: record for n, record in self._records.items() if n < number}
        other._sizes = {n: self._sizes[n] for n in other._records}
        other._record_bytes = sum(size for _, size in other._sizes.values())
        other._charge.add(sum(own for own, _ in other._sizes.values()))
        return other

    def record(self, number: int) -> RunSnapshot:
        """All of an iteration that is done, or of the one that did not take place. Raises
        GradstepError where it is not kept any more."""
        if number == self._count:
            found = self._last_record()
        else:
            segment = self._segments.of(number)
            found = self._records.get(number) or self._record_again(segment, number)
        if found is None:
            raise not_kept(self.iteration.loop.cond.op)
        return found

    # -- looking back ----------------------------------------------------------------------------

    def read(self, tensor: TensorRef, iteration: int) -> Any:
        if not 0 <= iteration < self.iterations:
            raise GradstepError(
                f"'{tensor}' is asked for in iteration {iteration}, and there were "
                f"{self.iterations}",
                kind="InvalidArgumentError",
                node=tensor.op,
                hint="the loop goes round more often once an input is nudged: choose other inputs",
            )
        array = self._asked(iteration).get(self._kept.place(tensor))
        if array is None:
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
        return self.held(self._kept.place(tensor), iteration)

    def held(self, index: int, iteration: int) -> Any:
        """What a value of the iteration's plan was, as `value` has it of a tensor."""
        found = self._find(index, iteration)
        return None if found is _LOST else found

    def is_lost(self, index: int, iteration: int) -> bool:
        """Whether such a value is not kept any more, if it was computed: there was no room for it,
        and a user's function is not called again to see it."""
        return self._find(index, iteration) is _LOST

    def _find(self, index: int, iteration: int) -> Any:
        if index in self.outside:
            return self.outside[index]
        if iteration == self.iterations:
            if self.iteration.plan.made_by[index] >= self.iteration.split:
                return None
            record = self._last_record()
        else:
            segment, record = self._segments.of(iteration), self._records.get(iteration)
            if record is None and segment.values is not None:
                values = segment.values[iteration - segment.start]
                if index in values:
                    return values[index]
            record = record or self._record_again(segment, iteration)
        return _LOST if record is None else record.value(index)

    def _asked(self, iteration: int) -> Values:
        """What is kept of an iteration for the way back: computed again, with all of its segment,
        if that was let go of. Raises GradstepError where there is no room for it."""
        segment = self._latest = self._segments.of(iteration)
        if segment.values is None:
            if not self._has_room(segment.nbytes):
                raise self._no_room(segment.nbytes)
            found: list[Values] = []
            stop = self._segments.stop(segment, self._count)
            self._repeat(segment, stop, lambda _, x: found.append(_copies(self._asked_of(x), x)))
            if len(found) < stop - segment.start:
                raise _went_otherwise(segment.start + len(found))
            segment.values = found
            self._charge.add(segment.nbytes)
        return segment.values[iteration - segment.start]

    def _asked_of(self, recording: Recording) -> Values:
        """What was dead may have no value."""
        return {i: recording.value(i) for i in self._kept.asked}

    def _repeat(self, segment: Segment, stop: int, keep: Callable[[int, Recording], None]) -> None:
        """Do iterations again, up to `stop`; nothing where that cannot be."""
        variables = self._segments.variables(segment)
        if self._kept.repeat is not None and variables is not None:
            numbers = range(segment.start, stop)
            self._kept.repeat(self.outside, variables, numbers, self.given, keep)

    # -- whole iterations ------------------------------------------------------------------------

    def _record(self, number: int, recording: Recording) -> None:
        """Keep all of the iteration, in the place of the first ones if there is no room."""
        into, needed, memory = None, recording.layout.size, self._kept.memory
        most = MOST_BYTES if memory is None else min(MOST_BYTES, memory.capacity // _RECORDS)
        while self._records and self._record_bytes + needed > most:
            into = self._drop(next(iter(self._records))).arena
        if self._has_room(needed):
            record = self._records[number] = recording.record(into)
            own = size = record.arena.nbytes
            if self._kept.by_reference:
                made = [*self._made(record)]
                own += size_of(made)
                size = own + sum(trace.nbytes for trace in _traces(made))
            self._sizes[number] = own, size
            self._record_bytes += size
            self._charge.add(own)

    def _drop(self, number: int) -> RunSnapshot:
        """The record of iteration `number`, not kept any more; of loops inside it stays what is
        asked for."""
        dropped, (own, size) = self._records.pop(number), self._sizes.pop(number)
        self._record_bytes -= size
        self._charge.add(-own)
        segment = self._segments.of(number)
        if segment.values and self.iteration.plan.loops:
            for trace in _traces(segment.values[number - segment.start].values()):
                trace.forget_records()
        return dropped

    def _record_again(self, segment: Segment, iteration: int) -> RunSnapshot | None:
        """The record of an iteration that is done once more, with those before it."""
        self._repeat(segment, iteration + 1, self._record)
        return self._records.get(iteration)

    def _last_record(self) -> RunSnapshot | None:
        """That of the iteration that did not take place."""
        if self.last is None and self._is_over:

            def keep(number: int, recording: Recording) -> None:
                if number == self._count:
                    self.end(recording)

            self._repeat(self._segments.all[-1], self._count + 1, keep)
        return self.last

    def _made(self, record: RunSnapshot) -> Iterator[Any]:
        """What the iteration made that has no place of its own."""
        others = record.others
        return (others.get(i) for i in self._kept.by_reference)

    # -- room ------------------------------------------------------------------------------------

    def _has_room(self, nbytes: int) -> bool:
        memory = self._kept.memory
        return memory is None or memory.has_room(nbytes, self)

    def _no_room(self, nbytes: int) -> GradstepError:
        memory = self._kept.memory
        assert memory is not None
        return GradstepError(
            f"the way back needs {_mib(nbytes)} more of the loop after {self._count} iterations, "
            f"and there is no room: of {_mib(memory.limit)} for recorded runs loops may take "
            f"{_mib(memory.capacity)}, and have {_mib(memory.used)}",
            kind="ResourceExhaustedError",
            hint="give recorded runs more memory (Run, Keep recorded), or take fewer iterations "
            "or smaller tensors",
        )


def not_kept(name: str) -> GradstepError:
    """That nothing can be gone on from amid a loop."""
    return GradstepError(
        f"the iterations of '{name}' are not kept any more",
        kind="FailedPreconditionError",
        node=name,
        hint="restart, and do it when the loop comes there",
    )


def _went_otherwise(number: int) -> GradstepError:
    return GradstepError(
        f"the loop ended before iteration {number} when it was done again",
        kind="InternalError",
        hint="give recorded runs more memory, so that nothing has to be done again",
    )


def _copies(values: Values, recording: Recording) -> Values:
    xp = recording.backend.xp
    return {
        i: x.copy("K") if type(x) is np.ndarray else None if x is None else copy_array(xp, x)
        for i, x in values.items()
    }


def _traces(values: Iterable[Any]) -> Iterator[LoopTrace]:
    return (x for x in values if type(x) is LoopTrace)


def _mib(nbytes: int) -> str:
    return f"{nbytes / 2**20:.4g} MiB"
