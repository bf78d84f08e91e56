"""What the recorded runs of a document computed, for lints that look at numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import find

_LARGEST = 1 << 22  # elements of a tensor that is looked at
_EARLIER = 32  # runs before the last that are looked at


class RecordedTensors:
    """last: the last run that is finished, -1 for none."""

    def __init__(self, session: DebugSession | None) -> None:
        self._session = session
        self.last = -1 if session is None else _last_finished(session)

    def value(
        self, x: Examined, ref: TensorRef, run: int = -1, begin: bool = False
    ) -> np.ndarray | None:
        """A tensor at the end of a run, by default the last, or as it began; read-only, to be done
        with before the next is asked for. None where it has none, and for what is too large."""
        check_cancelled()
        if self._session is None or self.last < 0:
            return None
        dims = x.shape(ref)
        if dims is not None and np.prod([d or 1 for d in dims], dtype=float) > _LARGEST:
            return None
        number = self.last if run < 0 else run
        step = 0 if begin else self._session.timeline.length
        found = self._session.frame(number, step).look(ref)
        return None if found is None or found.size > _LARGEST else found

    def copy(
        self, x: Examined, ref: TensorRef, run: int = -1, begin: bool = False
    ) -> np.ndarray | None:
        """The same, to be kept while others are asked for."""
        found = self.value(x, ref, run, begin)
        return None if found is None else found.copy()

    def earlier(self) -> Iterator[int]:
        """Runs before the last whose values are there, the latest first, without a gap."""
        if self._session is not None:
            kept = {*self._session.timeline.recorded_runs}
            for run in range(self.last - 1, max(self.last - 1 - _EARLIER, -1), -1):
                if run not in kept:
                    return
                yield run


def recorded(x: Examined) -> RecordedTensors:
    return RecordedTensors(x.session)


def executed(x: Examined, types: Collection[str]) -> Iterator[tuple[Operation, RecordedTensors]]:
    """The operations of these types that the last run has executed, and what was recorded."""
    runs = recorded(x)
    if runs.last >= 0 and x.session is not None:
        for name in x.graph.of_types(types):
            if name in x.session.plan.step_of:
                yield x.graph[name], runs


def named_input(op: Operation, name: str) -> TensorRef | None:
    """The input of `op` that its record calls so."""
    definition = find(op.type)
    names = [] if definition is None else [spec.name for spec in definition.inputs]
    return op.inputs[names.index(name)] if name in names and len(op.inputs) == len(names) else None


def _last_finished(session: DebugSession) -> int:
    """A run that failed, or is going on, is not looked at."""
    timeline = session.timeline
    last = timeline.runs - 1
    return last if last < 0 or timeline.done(last) == timeline.length else last - 1
