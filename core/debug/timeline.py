"""The recorded runs of a program: a ring of arena copies, and replay for what was dropped.

A run is deterministic given the variables it starts from, so a dropped run is computed again
from the nearest earlier start that is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.engine.arena import Arena
from core.engine.backend import Backend
from core.engine.evaluate import Functions
from core.engine.plan import Plan
from core.engine.record import Record, Recording
from core.engine.state import VariableStore
from core.errors import GradstepError
from core.graph.model import TensorRef


class Timeline:
    """Runs 0 to `runs - 1`; all are finished but the last, which is `done` so far.

    start:       the variables before run 0.
    limit_bytes: how much finished runs may keep; the least recently read are dropped first.
    before:      the timeline of a plan that `plan` continues. Its memory goes over to this one as
                 far as it can, and then it is over.
    """

    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions,
        feeds: Mapping[TensorRef, np.ndarray],
        start: VariableStore,
        limit_bytes: int,
        before: Timeline | None = None,
    ) -> None:
        self.plan = plan
        self.backend = backend
        self.start = start
        self.limit_bytes = limit_bytes
        self._functions = functions
        self._feeds = feeds
        self._live: Recording = self._new_recording(None if before is None else before._live)
        self._spare: Recording | None = None  # for replays; the live run must not be disturbed
        self.reset()

    def reset(self) -> None:
        """Forget everything and stand before run 0."""
        self.runs = 1
        self._done = 0
        self._kept: OrderedDict[int, Record] = OrderedDict()
        self._kept_bytes = 0
        self._replayed: tuple[int, Record] | None = None
        self._starts: dict[int, VariableStore] = {0: self.start}
        self._stride = 1
        self._live.begin(self.start)

    @property
    def length(self) -> int:
        """Steps of a run."""
        return len(self.plan.steps)

    @property
    def nbytes(self) -> int:
        """Bytes held for all recorded runs, the live one included."""
        return self._kept_bytes + self._live.nbytes

    def done(self, run: int) -> int:
        """Steps of `run` that have been executed."""
        if run == self.runs - 1:
            return self._done
        return self.length if run < self.runs else 0

    def reach(self, run: int, step: int) -> tuple[int, GradstepError | None]:
        """Execute what is missing up to `step` of `run`, the last or an earlier one; the step
        reached, and the error that stopped it there."""
        if step <= self.done(run):
            return step, None
        self._done, error = self._live.run(self._done, step)
        return self._done, error

    def begin_run(self) -> None:
        """Record the last run, which must be finished, and start the next with its variables."""
        assert self._done == self.length
        self._keep(self.runs - 1, self._live.record(self._make_room(self._live.nbytes)))
        self._live.begin(self._live.variables())
        self.runs += 1
        self._done = 0

    def get(self, run: int, index: int) -> np.ndarray | None:
        """A host copy of value `index` of `run`, whose step has been executed."""
        source = self._live if run == self.runs - 1 else self._record(run)
        array = source.value(index)
        return None if array is None else self.backend.get(array)

    def _new_recording(self, before: Recording | None = None) -> Recording:
        recording = Recording(self.plan, self.backend, self._functions, before=before)
        recording.feed(self._feeds)
        return recording

    def _record(self, run: int) -> Record:
        if run in self._kept:
            self._kept.move_to_end(run)
            return self._kept[run]
        if self._replayed is None or self._replayed[0] != run:
            self._replayed = (run, self._replay(run))
            self._keep(*self._replayed)
        return self._replayed[1]

    def _replay(self, run: int) -> Record:
        if self._spare is None:
            self._spare = self._new_recording()
        spare = self._spare
        first = max(r for r in (*self._starts, *self._kept) if r <= run)
        spare.begin(self._starts[first] if first in self._starts else self._started(first))
        for number in range(first, run + 1):
            if number > first:
                spare.begin(spare.variables())
            _, error = spare.run(0, self.length)
            if error is not None:
                raise error
        return spare.record()

    def _keep(self, run: int, record: Record) -> None:
        self._kept[run] = record
        self._kept_bytes += record.nbytes
        while self._kept and self._kept_bytes > self.limit_bytes:
            self._drop(next(iter(self._kept)))

    def _make_room(self, nbytes: int) -> Arena | None:
        """Drop runs until one of so many bytes can be kept; memory that is free then."""
        dropped = None
        while self._kept and self._kept_bytes + nbytes > self.limit_bytes:
            dropped = self._drop(next(iter(self._kept)))
        replayed = None if self._replayed is None else self._replayed[1]
        return None if dropped is None or dropped is replayed else dropped.arena

    def _drop(self, run: int) -> Record:
        if run % self._stride == 0 and run not in self._starts:
            self._starts[run] = VariableStore(self.backend, self._started(run))
            self._thin_starts()
        dropped = self._kept.pop(run)
        self._kept_bytes -= dropped.nbytes
        return dropped

    def _started(self, run: int) -> dict[str, Any]:
        """The variables that kept run number `run` started from."""
        record = self._kept[run]
        found = {name: record.value(ids[0]) for name, ids in self.plan.versions.items()}
        return {name: array for name, array in found.items() if array is not None}

    def _thin_starts(self) -> None:
        """Kept starts take a quarter of the limit at most; every second one goes, then again."""
        while len(self._starts) > 1 and self._starts_bytes() > self.limit_bytes // 4:
            self._stride *= 2
            self._starts = {r: s for r, s in self._starts.items() if r % self._stride == 0}

    def _starts_bytes(self) -> int:
        return sum(store.nbytes for run, store in self._starts.items() if run > 0)
