"""Runs of one signature: a laid out plan, and where in it the fetches are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gradstep.core.engine.device_transfer import get
from gradstep.core.engine.plan.why_dead import Untaken, why_dead, without_value
from gradstep.core.engine.run.blocked_on_queue import stuck
from gradstep.core.engine.run.chosen_rows import ChosenRows
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.run_signature import Signature
from gradstep.core.engine.run.variable_store import VariableStore, uninitialised_error
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.queue import WouldBlockError


class SignatureRun:
    """Of `signature`, in `recording`. fed_by: who fed it last."""

    def __init__(self, signature: Signature, recording: Recording) -> None:
        self.recording = recording
        self.fed_by: object = None
        plan = recording.plan
        self._steps = len(plan.steps)
        self._signature = signature

    def feed(self, arrays: Sequence[np.ndarray | ChosenRows], by: object) -> None:
        """Run from these, in the order of the signature."""
        self.recording.feed_in_order(arrays)
        self.fed_by = by

    def execute(self, store: VariableStore) -> None:
        """One run, from the variables in `store`, where it leaves them. Raises GradstepError."""
        recording = self.recording
        recording.begin(store)
        done, error = recording.run(0, self._steps)
        recording.keep(store, done)
        if isinstance(error, WouldBlockError):
            raise stuck(recording.plan, done, error, store)
        if error is not None:
            raise error

    def results(self) -> list[np.ndarray]:
        """Copies of what the last run computed. Raises GradstepError for what has no value."""
        found = []
        for number, (ref, index, may_be_dead) in enumerate(self._places):
            dead = self._why_dead(ref) if may_be_dead else None
            if dead is not None:
                raise without_value(number, ref, dead)
            found.append(self._copy(index))
        return found

    def living(self) -> list[np.ndarray | None]:
        """`results`, with None for what is dead."""
        return [
            None if may_be_dead and self._why_dead(ref) else self._copy(index)
            for ref, index, may_be_dead in self._places
        ]

    @cached_property
    def _places(self) -> list[tuple[TensorRef, int, bool]]:
        """Of each fetch, the value that it gives, of what stands for a variable the last one; and
        whether it may be dead. Known once a run came to its end: what fails is nowhere."""
        plan, found = self.recording.plan, []
        for ref in self._signature.fetches:
            where = plan.tensors[ref]
            index = plan.newest(where) if isinstance(where, str) else where
            found.append((ref, index, ref in plan.alive))
        return found

    def _why_dead(self, ref: TensorRef) -> Untaken | None:
        return why_dead(self.recording.plan, ref, self.recording.value)

    def _copy(self, index: int) -> np.ndarray:
        array = self.recording.value(index)
        if array is None:
            plan = self.recording.plan
            name = plan.values[index].variable
            raise uninitialised_error(None, name, plan.variables[name])
        return get(self.recording.backend, array)
