"""Runs of a timeline's plan in its fast form: the same bits, and nothing is kept of the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.device_transfer import get
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


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a variable held as the run began: something to fetch. tensor: the variable's own."""

    tensor: TensorRef


Fetch = TensorRef | RunStart
Fetched = Mapping[Fetch, np.ndarray | None]
ROUNDING = [made.name for made in PASSES if made.differs]  # passes that may round otherwise


class FastRuns:
    """One after the other, from `begin` on; each gives the values of `fetches`, and one that is
    looked at closely those of `more`, too."""

    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions,
        fetches: Sequence[Fetch],
        more: Sequence[Fetch] = (),
    ) -> None:
        # A pass that may round otherwise is left out: a run that is repeated has to be the same.
        self._session = Session(plan.graph, backend, functions, fast=True, without=ROUNDING)
        # What is fetched by the plan is computed, too, but nobody looks at it here.
        targets = [*plan.targets, *(ref.op for ref in plan.fetches)]
        self._short = _Question(self._session, plan, fetches, targets)
        self._long = _Question(self._session, plan, (*fetches, *more), targets)

    def begin(self, variables: Mapping[str, Any]) -> None:
        """The next run starts from these (device arrays), which are copied."""
        for name, array in variables.items():
            self._session.store.set(name, array)

    def run(self, feeds: Mapping[TensorRef, np.ndarray], closely: bool = False) -> Fetched:
        """Make one. Raises GradstepError; the variables are as the failing step left them then."""
        return (self._long if closely else self._short).ask(feeds)

    @property
    def variables(self) -> VariableStore:
        """What the last run left; the next one writes to it."""
        return self._session.store


class _Question:
    """What is fetched in a run, of a session that runs it."""

    def __init__(
        self, session: Session, plan: Plan, fetches: Sequence[Fetch], targets: Sequence[str]
    ) -> None:
        self._session, self._targets = session, targets
        fetches = tuple(dict.fromkeys(fetches))
        self._fetches = [fetch for fetch in fetches if isinstance(fetch, TensorRef)]
        starts = [fetch for fetch in fetches if isinstance(fetch, RunStart)]
        self._starts = [(start, _storage(plan, start)) for start in starts]
        self._feeds: Mapping[TensorRef, np.ndarray] | None = None

    def ask(self, feeds: Mapping[TensorRef, np.ndarray]) -> Fetched:
        """Make a run. Raises GradstepError."""
        if self._feeds is None:  # most programs are fed the same in each run
            self._feeds = feeds
            self._again = self._session.make_values(self._fetches, feeds, self._targets)
            self._on_batch = self._session.make_fed(self._fetches, feeds, self._targets)
        store = self._session.store
        found: dict[Fetch, np.ndarray | None] = {
            s: get(store.backend, store[name]) for s, name in self._starts if name in store
        }
        if feeds is self._feeds:
            values = self._again()
        else:
            values = self._on_batch([feeds[ref] for ref in self._feeds])
        found.update(zip(self._fetches, values, strict=True))
        return found


def _storage(plan: Plan, start: RunStart) -> str:
    """Under which name the variable is kept from run to run."""
    where = plan.tensors[start.tensor]
    assert isinstance(where, str)
    return where


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
