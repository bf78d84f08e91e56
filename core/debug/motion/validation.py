"""The loss over rows that nothing is trained on, after each epoch, as training goes by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.core.debug.history.fast_runs import ROUNDING
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef


class Validation:
    """Means of `tensors` over the rows that are held back, each row counted once.

    last: those of the last epoch that was over; NOT_THERE before that, and without such rows.
    What a training run counts, as random operations do, is not touched.
    """

    def __init__(self, program: Program, backend: Backend, tensors: Sequence[TensorRef]) -> None:
        self.last: Sequence[float] = [NOT_THERE] * len(tensors)
        self._program, self._backend, self._tensors = program, backend, tensors
        self._session: Session | None = None

    def is_due(self, run: int) -> bool:
        """Whether an epoch is over with `run`."""
        batches = self._program.batches
        return bool(self._tensors) and batches is not None and not (run + 1) % batches.per_epoch

    def measure(self, variables: Mapping[str, Any]) -> None:
        """Look at the loss again, at these values of the variables (device arrays). Raises
        GradstepError."""
        batches = self._program.batches
        assert batches is not None
        session = self._begun(variables)
        totals, rows = np.zeros(len(self._tensors)), 0
        for feeds, count in batches.held_back():
            found = session.values(self._tensors, {**self._program.feeds, **feeds})
            means = [np.nan if value is None else float(np.mean(value)) for value in found]
            totals, rows = totals + np.array(means) * count, rows + count
        if rows:
            self.last = (totals / rows).tolist()

    def _begun(self, variables: Mapping[str, Any]) -> Session:
        """A session of its own, whose variables are copies of these."""
        if self._session is None:
            program = self._program
            self._session = Session(
                program.graph, self._backend, program.functions, fast=True, without=ROUNDING
            )
        for name, array in variables.items():
            self._session.store.refill(name, array)
        return self._session
