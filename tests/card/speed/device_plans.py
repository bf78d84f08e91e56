"""Gradstep's plans on a card: how a workload's `ours` starts there, with feeds on the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS
from gradstep.core.engine.kernels.kernel_choice import Kernels
from gradstep.core.engine.passes.pass_pipeline import optimize
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.layout_choice import laid_out
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.model import TensorRef
from tests.bench.ours import Arrays, Feeds, Run


@dataclass
class DevicePlan:
    """The `mode` of a program: starts its plan on `backend`, as a Session lays it out, and keeps
    it. feed: copies the feeds there once more."""

    backend: Backend
    kind: str
    feed: Callable[[], object] | None = None
    ran: str = ""  # how it is laid out in fact

    def __call__(self, plan: Plan, feeds: Feeds, initial: Arrays, kernels: Kernels) -> Run:
        store = VariableStore(self.backend)
        for name, value in initial.items():
            store.set(name, self.backend.put(value))
        rewrite = partial(optimize, backend=self.backend) if self.kind == "fast" else None
        run = laid_out(plan, self.backend, NO_FUNCTIONS, store, rewrite, kernels)
        self.ran = "fast" if isinstance(run, FastRun) else "recorded"
        self.feed = partial(run.feed, feeds)
        self.feed()
        held: Mapping[str, Any] = store
        step = _fast_step(run, store)
        if not isinstance(run, FastRun):
            held = dict(store)
            step = _recorded_step(run, held)
        return Run(
            step,
            lambda ref: _fetched(run, ref, self.backend),
            lambda name: self.backend.get(held[name]),
            len(run.plan.steps),
            run,
        )


def _fast_step(run: Recording, store: VariableStore) -> Callable[[], None]:
    run.begin(store)
    count = len(run.plan.steps)

    def step() -> None:
        _raise(run.run(0, count)[1])

    return step


def _recorded_step(run: Recording, held: dict[str, Any]) -> Callable[[], None]:
    count = len(run.plan.steps)

    def step() -> None:
        run.begin(held)
        _raise(run.run(0, count)[1])
        held.update(run.variables())

    return step


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error


def _fetched(run: Recording, ref: TensorRef, backend: Backend) -> np.ndarray:
    where = run.plan.tensors[ref]
    value = run.value(run.plan.newest(where) if isinstance(where, str) else where)
    return np.array(value) if isinstance(value, np.ndarray) else backend.get(value)
