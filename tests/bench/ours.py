"""The one place where the benchmarks meet the engine: a graph in, a step to time out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import Gradient, gradients
from gradstep.core.engine.kernels.kernel_choice import REFERENCE, Kernels, with_kernels
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import optimize
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.native_extension import extension
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.optimizers import apply_updates
from tests.bench.environments import NotAvailableError
from tests.bench.program import Program, moved

Arrays = Mapping[str, np.ndarray]
Feeds = Mapping[TensorRef, np.ndarray]


@dataclass(frozen=True)
class Run:
    """step: one run of the plan. read: the value of a fetch after it; variable: of a variable.
    recording: what runs."""

    step: Callable[[], None]
    read: Callable[[TensorRef], np.ndarray]
    variable: Callable[[str], np.ndarray]
    calls: int
    recording: Recording | None = None


Start = Callable[[Plan, Feeds, Arrays, Kernels], Run]


def program(
    graph: Graph,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    feeds: Arrays,
    initial: Arrays,
    mode: str | Start = "fast",
    kernels: str = REFERENCE,
    before: Run | None = None,
) -> Run:
    """The graph's plan, ready to run again and again from the same feeds.

    mode: "record" (every value stays readable), "fast", "native" (which is that, and refuses to be
    without the extension), or another way to start a plan. kernels: as a Session takes them.
    before: of the graph before an edit, in mode "record"; it is over.
    """
    arrays = feed_arrays(graph, feeds)
    last = None if before is None else before.recording
    plan = compile_plan(graph, fetches, targets, infer_fed_types(arrays), last and last.plan)
    start = _START[mode] if isinstance(mode, str) else mode
    if last is not None:
        start = partial(_recorded, before=last)
    return start(plan, arrays, initial, Kernels.of(kernels))


def _recorded(
    plan: Plan, feeds: Feeds, initial: Arrays, kernels: Kernels, before: Recording | None = None
) -> Run:
    backend = NumpyBackend()
    run = Recording(with_kernels(plan, backend, kernels), backend, before=before)
    run.feed(feeds)
    held: dict[str, Any] = dict(initial)
    return made_run(run, recorded_step(run, held), held)


def _fast(plan: Plan, feeds: Feeds, initial: Arrays, kernels: Kernels) -> Run:
    backend = NumpyBackend()
    run = FastRun(with_kernels(optimize(plan, backend), backend, kernels), backend)
    run.feed(feeds)
    held = VariableStore(backend, {name: initial[name] for name in plan.versions})
    run.settle(held)
    return made_run(run, fast_step(run, held), held)


def _native(plan: Plan, feeds: Feeds, initial: Arrays, kernels: Kernels) -> Run:
    """Raises NotAvailableError where the extension is not there."""
    if extension().make is None:
        raise NotAvailableError(f"gradstep-native: {extension().why_not}")
    return _fast(plan, feeds, initial, kernels)


_START: Mapping[str, Start] = {"record": _recorded, "fast": _fast, "native": _native}


def handed_over(build: Callable[..., object], rate: float) -> tuple[Plan, Feeds, Arrays]:
    """What a workload's `ours` hands to the engine: its plan, feeds, and initial values."""
    found: list[tuple[Plan, Feeds, Arrays]] = []

    def keep(plan: Plan, feeds: Feeds, initial: Arrays, *how: Any) -> Run:
        found.append((plan, feeds, initial))
        return _recorded(plan, feeds, initial, *how)

    build(rate, mode=keep)
    return found[0]


def fed_session(build: Callable[..., object], rate: float, start: Arrays) -> Program:
    """A workload by `Session.run`, its feeds given in every step; start: what is trained."""
    plan, feeds, initial = handed_over(build, rate)
    session = Session(plan.graph, initial=initial, fast=True)
    fetches = [*plan.fetches]
    last: list[Any] = [None]

    def step() -> None:
        last[0] = session.run(fetches, feeds, plan.targets)

    def numbers() -> dict[str, float]:
        now = (np.array(session.store[name]) for name in start)
        return {"loss": float(last[0][0]), "moved": moved(now, start.values())}

    return Program(step, numbers)


def recorded_step(run: Recording, held: dict[str, Any]) -> Callable[[], None]:
    """Starts from the variables that are `held`, and leaves there what they have become."""
    count = len(run.plan.steps)

    def step() -> None:
        run.begin(held)
        _raise(run.run(0, count)[1])
        held.update(run.variables())

    return step


def fast_step(run: Recording, held: VariableStore) -> Callable[[], None]:
    run.begin(held)
    count = len(run.plan.steps)

    def step() -> None:
        _raise(run.run(0, count)[1])

    return step


def made_run(run: Recording, step: Callable[[], None], held: Mapping[str, Any]) -> Run:
    get = run.backend.get
    return Run(
        step,
        lambda ref: _fetched(run, ref),
        lambda name: get(held[name]),
        len(run.plan.steps),
        run,
    )


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error


def _fetched(run: Recording, ref: TensorRef) -> np.ndarray:
    where = run.plan.tensors[ref]
    value = run.value(run.plan.newest(where) if isinstance(where, str) else where)
    return np.array(value) if isinstance(value, np.ndarray) else run.backend.get(value)


def training(
    builder: GraphBuilder,
    loss: Tensor,
    variables: Arrays,
    feeds: Arrays,
    optimizer: tuple[str, Mapping[str, float]],
    **how: Any,
) -> Program:
    """A training step of `loss`: gradients for `variables` (with these first values), updates."""
    grads = gradients(loss, [builder.get(f"{name}:0") for name in variables])
    return updating(builder, loss, grads, variables, feeds, optimizer, **how)


def updating(
    builder: GraphBuilder,
    loss: Tensor,
    grads: Sequence[Gradient],
    variables: Arrays,
    feeds: Arrays,
    optimizer: tuple[str, Mapping[str, float]],
    **how: Any,
) -> Program:
    """A step that updates `variables` (with these first values) by their gradients, and tells
    `loss`."""
    names = list(variables)
    pairs = [(name, g) for name, g in zip(names, grads, strict=True) if g is not None]
    updates = apply_updates(builder, *optimizer, pairs)
    initial = {**variables, **updates.initial}
    run = program(builder.build(), [loss.ref], updates.targets, feeds, initial, **how)
    return Program(
        run.step,
        lambda: {
            "loss": float(run.read(loss.ref)),
            "moved": moved(
                map(run.variable, [name for name, _ in pairs]),
                (variables[name] for name, _ in pairs),
            ),
        },
        facts={"calls": str(run.calls)},
    )


def placed(builder: GraphBuilder, arrays: Arrays) -> list[Tensor]:
    """A placeholder for each array, of its name, type and shape."""
    return [builder.placeholder(n, str(a.dtype), a.shape) for n, a in arrays.items()]


def declared(builder: GraphBuilder, arrays: Arrays) -> list[Tensor]:
    """A variable for each array, of its name, type and shape."""
    return [builder.variable(n, str(a.dtype), a.shape) for n, a in arrays.items()]
