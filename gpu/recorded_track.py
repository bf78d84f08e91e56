"""A recorded device going through a plan: its results are those that it once gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import OpDef
from gradstep.gpu.device_recording import DeviceRecording, digest_of, starts_of
from gradstep.gpu.device_run import Outcome, Track

_AGAIN = "record it again: gradstep compare FILE --against DEVICE --record FILE.gradrec"


class RecordedBackend:
    """A Backend that computes nothing: it holds what was recorded, as arrays of the host."""

    def __init__(self, recording: DeviceRecording) -> None:
        self.recording = recording
        self.name, self.source = recording.name, recording.source
        self.measured, self.rules = recording.measured, recording.rules
        self.xp: Any = _Elsewhere() if recording.is_apart else np

    def put(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def get(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return np.empty(shape, dtype)

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        return kernel

    def sync(self) -> None:
        """Nothing is under way."""

    def memory(self) -> int:
        return 0


class _Elsewhere:
    """The arrays of another device, which are no NumPy arrays: state in them stays there."""


class RecordedTrack(Track):
    """A Track of a RecordedBackend."""

    backend: RecordedBackend

    def begin(self, start: Mapping[int, Any]) -> None:
        """Raises GradstepError for what `require_same` refuses."""
        require_same(self.plan, start, self.backend.recording)
        super().begin(start)

    def try_on(self, step: Step, inputs: Sequence[np.ndarray | None]) -> Outcome:
        refusal = self._refusal(step)
        return self._recorded(step).isolated if refusal is None else Outcome(error=refusal)

    def _compute(self, step: Step, inputs: Sequence[Any]) -> tuple[tuple[Any, ...], Outcome]:
        found = self._recorded(step).chained
        return found.outputs, found

    def _recorded(self, step: Step) -> Any:
        return self.backend.recording.nodes[step.op.name]


def require_same(plan: Plan, start: Mapping[int, Any], recording: DeviceRecording) -> None:
    """Raise GradstepError for another program than the one that was recorded, and for other feeds
    and first values."""
    for step in plan.steps:
        _require_same_step(step, recording)
    for name, found in starts_of(plan, start).items():
        if recording.starts.get(name) != found:
            raise GradstepError(
                f"'{name}' has another value than when {recording.device} was recorded",
                kind="FileError",
                node=name.partition(":")[0],
                hint=_AGAIN,
            )


def _require_same_step(step: Step, recording: DeviceRecording) -> None:
    if not step.computes:
        return
    node = recording.nodes.get(step.op.name)
    if node is None or node.digest != digest_of(step.op):
        what = "is not in the recording" if node is None else "is another operation than there"
        raise GradstepError(
            f"the recording of {recording.device} is of another program: '{step.op.name}' {what}",
            kind="FileError",
            node=step.op.name,
            hint=_AGAIN,
        )


def make_track(backend: Any, plan: Plan, functions: Any) -> Track:
    """Of whichever backend."""
    kind = RecordedTrack if isinstance(backend, RecordedBackend) else Track
    return kind(backend, plan, functions)
