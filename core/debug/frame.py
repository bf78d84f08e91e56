"""What every tensor held as of one step of one recorded run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.debug.timeline import Timeline
from core.engine.resolve import storage_name
from core.graph.model import TensorRef


@dataclass(frozen=True, slots=True)
class Frame:
    """Values once `step` steps of run number `run` are done; the same by whatever way the
    debugger came there.

    gradients: tensor -> the tensor that holds its gradient.
    """

    timeline: Timeline
    gradients: Mapping[TensorRef, TensorRef]
    run: int
    step: int

    def value(self, ref: TensorRef | str) -> np.ndarray | None:
        """A copy of the tensor's value on the host, or None when it is not computed yet.

        A variable, or an alias of one, has the value last written at or before the step. Raises
        GradstepError when a dropped run must be replayed and that fails.
        """
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        done = min(self.step, self.timeline.done(self.run))
        if self.run >= self.timeline.runs:
            return None
        plan = self.timeline.plan
        where = plan.tensors.get(ref)
        if where is None:
            return self._untouched(ref)
        if isinstance(where, str):
            alias = ref.op != plan.variables[where].op
            if alias and plan.step_of[ref.op] >= done:
                return None
            where = plan.newest(where, done)
        elif plan.made_by[where] >= done:
            return None
        return self.timeline.get(self.run, where)

    def gradient(self, ref: TensorRef | str) -> np.ndarray | None:
        """The value of the tensor's gradient; None when there is none, or not yet."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        held = self.gradients.get(ref)
        return None if held is None else self.value(held)

    def _untouched(self, ref: TensorRef) -> np.ndarray | None:
        """A variable that no step of the plan touches keeps its first value."""
        graph = self.timeline.plan.graph
        if ref.index or ref.op not in graph:
            return None
        array = self.timeline.start.get(storage_name(graph[ref.op]))
        return None if array is None else self.timeline.backend.get(array)
