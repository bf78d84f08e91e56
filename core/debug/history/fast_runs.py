"""Runs of a timeline's plan in its fast form: the same bits, and nothing is kept of the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from time import perf_counter
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.passes.pass_pipeline import PASSES
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.model import TensorRef


class Go(Enum):
    """How to go on after a run."""

    ON = "on"
    NO_FARTHER = "no farther"
    AGAIN = "again"  # that run is to be made once more, and everything in it kept


Fetched = Mapping[TensorRef, np.ndarray | None]
ROUNDING = [made.name for made in PASSES if made.differs]  # passes that may round otherwise


class FastRuns:
    """One after the other, from `begin` on; each gives the values of `fetches`."""

    def __init__(
        self, plan: Plan, backend: Backend, functions: Functions, fetches: Sequence[TensorRef]
    ) -> None:
        # A pass that may round otherwise is left out: a run that is repeated has to be the same.
        self._session = Session(plan.graph, backend, functions, fast=True, without=ROUNDING)
        # What is fetched by the plan is computed, too, but nobody looks at it here.
        self._targets = [*plan.targets, *(ref.op for ref in plan.fetches)]
        self._fetches = tuple(dict.fromkeys(fetches))
        self._feeds: Mapping[TensorRef, np.ndarray] | None = None

    def begin(self, variables: Mapping[str, Any]) -> None:
        """The next run starts from these (device arrays), which are copied."""
        for name, array in variables.items():
            self._session.store.set(name, array)

    def run(self, feeds: Mapping[TensorRef, np.ndarray]) -> Fetched:
        """Make one. Raises GradstepError; the variables are as the failing step left them then."""
        if self._feeds is None:  # most programs are fed the same in each run
            self._feeds = feeds
            self._again = self._session.make_values(self._fetches, feeds, self._targets)
        if feeds is self._feeds:
            return dict(zip(self._fetches, self._again(), strict=True))
        found = self._session.values(self._fetches, feeds, self._targets)
        return dict(zip(self._fetches, found, strict=True))

    @property
    def variables(self) -> VariableStore:
        """What the last run left; the next one writes to it."""
        return self._session.store


class Pace:
    """Which runs' starts to keep, so that keeping them takes little of the time, and running on
    from one to the next not much: one in a blink, of each run where those take longer."""

    BLINK = 0.01  # seconds

    def __init__(self, stride: int) -> None:
        self._stride = stride
        self._last = perf_counter()

    def wants(self, run: int) -> bool:
        """Asked before each run."""
        if run % self._stride:
            return False
        now = perf_counter()
        if now - self._last < self.BLINK:
            self._stride *= 2
        self._last = now
        return True
