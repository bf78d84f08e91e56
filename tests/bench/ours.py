"""The one place where the benchmarks meet the engine: a graph in, a step to time out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.autodiff.gradients import gradients
from core.engine.fast import Fast
from core.engine.feeds import fed_types, feed_arrays
from core.engine.numpy_backend import NumpyBackend
from core.engine.passes.pipeline import optimized
from core.engine.plan import Plan, compile_plan
from core.engine.record import Recording
from core.graph.model import Graph, TensorRef
from core.ops.builder import GraphBuilder, Tensor
from core.train.optimizers import apply_updates
from tests.bench.program import Program, moved

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Run:
    """step: one run of the plan. read: the value of a fetch after it; variable: of a variable."""

    step: Callable[[], None]
    read: Callable[[TensorRef], np.ndarray]
    variable: Callable[[str], np.ndarray]
    calls: int


def program(
    graph: Graph,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    feeds: Arrays,
    initial: Arrays,
    mode: str = "fast",
    kernels: bool = False,
) -> Run:
    """The graph's plan, ready to run again and again from the same feeds.

    mode: "record" (every value stays readable) or "fast". kernels: with the optional kernels.
    Raises LookupError where the engine has none.
    """
    if kernels:
        raise LookupError("the engine has no optional kernels yet")
    arrays = feed_arrays(graph, feeds)
    plan = compile_plan(graph, fetches, targets, fed_types(arrays))
    return _START[mode](plan, arrays, initial)


def _recorded(plan: Plan, feeds: Mapping[TensorRef, np.ndarray], initial: Arrays) -> Run:
    run = Recording(plan, NumpyBackend())
    run.feed(feeds)
    held: dict[str, Any] = dict(initial)
    count = len(plan.steps)

    def step() -> None:
        run.begin(held)
        _raise(run.run(0, count)[1])
        held.update(run.variables())

    return Run(step, lambda ref: _fetched(run, ref), lambda name: np.array(held[name]), count)


def _fast(plan: Plan, feeds: Mapping[TensorRef, np.ndarray], initial: Arrays) -> Run:
    backend = NumpyBackend()
    run = Fast(optimized(plan, backend), backend)
    run.feed(feeds)
    held = {name: backend.put(initial[name]) for name in plan.versions}
    run.begin(held)
    count = len(run.plan.steps)

    def step() -> None:
        _raise(run.run(0, count)[1])

    return Run(step, lambda ref: _fetched(run, ref), lambda name: np.array(held[name]), count)


_START = {"record": _recorded, "fast": _fast}


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error


def _fetched(run: Recording, ref: TensorRef) -> np.ndarray:
    where = run.plan.tensors[ref]
    return np.array(run.value(run.plan.newest(where) if isinstance(where, str) else where))


def training(
    builder: GraphBuilder,
    loss: Tensor,
    variables: Arrays,
    feeds: Arrays,
    optimizer: tuple[str, Mapping[str, float]],
    **how: Any,
) -> Program:
    """A training step of `loss`: gradients for `variables` (with these first values), updates."""
    names = list(variables)
    grads = gradients(loss, [builder.get(f"{name}:0") for name in names])
    pairs = [(name, g) for name, g in zip(names, grads, strict=True) if g is not None]
    updates = apply_updates(builder, *optimizer, pairs)
    initial = {**variables, **updates.initial}
    run = program(builder.build(), [loss.ref], updates.targets, feeds, initial, **how)
    return Program(
        run.step,
        lambda: {
            "loss": float(run.read(loss.ref)),
            "moved": moved(map(run.variable, names), variables.values()),
        },
        facts={"calls": str(run.calls)},
    )


def placed(builder: GraphBuilder, arrays: Arrays) -> list[Tensor]:
    """A placeholder for each array, of its name, type and shape."""
    return [builder.placeholder(n, str(a.dtype), a.shape) for n, a in arrays.items()]


def declared(builder: GraphBuilder, arrays: Arrays) -> list[Tensor]:
    """A variable for each array, of its name, type and shape."""
    return [builder.variable(n, str(a.dtype), a.shape) for n, a in arrays.items()]
