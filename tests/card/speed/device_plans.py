"""Gradstep's plans on a card: how a workload's `ours` starts there, with feeds on the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS
from gradstep.core.engine.kernels.kernel_choice import Kernels
from gradstep.core.engine.passes.pass_pipeline import optimize
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.layout_choice import laid_out
from gradstep.core.engine.run.variable_store import VariableStore
from tests.bench.ours import Arrays, Feeds, Run, fast_step, made_run, recorded_step


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
        if isinstance(run, FastRun):
            return made_run(run, fast_step(run, store), store)
        held = dict(store)
        return made_run(run, recorded_step(run, held), held)
