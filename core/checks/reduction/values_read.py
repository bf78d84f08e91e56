"""What tensors held at a moment of a run: in the end, or in an iteration of loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradstep.core.checks.why.recorded_values import LoopRan, Ran, Recorded
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.device_transfer import get
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.state.opaque_state import OpaqueState

Iterations = Sequence[tuple[int, str]]  # of each loop around, the outermost first


class ValuesRead:
    """Of `session`, in its run number `run`. cotangents: tensor -> the tensor that holds its
    gradient."""

    def __init__(
        self, session: DebugSession, run: int, cotangents: Mapping[TensorRef, TensorRef]
    ) -> None:
        self._session, self._cotangents = session, cotangents
        self._whole = Recorded(session).run(run)

    def read(self, op: Operation, number: int, iterations: Iterations = ()) -> np.ndarray | None:
        """What an operation read as its input `number`: of a variable what that held just then.
        None where that has no value, or is no array."""
        ran, ref = self._at(iterations), op.inputs[number]
        step = None if ran is None else ran.plan.step_of.get(op.name)
        if ran is None or ref is None:
            return None
        reads = () if step is None else ran.plan.steps[step].reads
        return self._held(ran, reads[number] if number < len(reads) else ran.value_of(ref))

    def _held(self, ran: Ran, index: int | None) -> np.ndarray | None:
        held = None if index is None else ran.held(index)
        if held is None or isinstance(held, OpaqueState):
            return None
        array = get(self._session.backend, held)
        return array if isinstance(array, np.ndarray) else None

    def cotangent(self, ref: TensorRef) -> np.ndarray | None:
        """The gradient that arrived at a tensor that is in no loop."""
        holder = self._cotangents.get(ref)
        return None if holder is None else self._held(self._whole, self._whole.value_of(holder))

    def _at(self, iterations: Iterations) -> Ran | None:
        ran: Ran = self._whole
        for number, loop in iterations:
            step = ran.plan.step_of.get(loop)
            if step is None or not ran.has_run(step):
                return None
            ran = LoopRan(ran, step).iteration(number)
        return ran
