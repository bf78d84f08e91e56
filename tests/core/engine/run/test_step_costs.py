"""Profiles: what is counted of each step, on which values, and what stops the measuring."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import optimize
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.layout_choice import laid_out
from gradstep.core.engine.run.step_costs import Cost, Profile, measure
from gradstep.core.engine.run.variable_store import VariableStore, initial_store
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.ufunc import BLOCK
from gradstep.core.thread_pool import VARIABLE

CPU = NumpyBackend()
LAYOUTS = ["recorded", "fast"]


def profile(
    builder: GraphBuilder,
    *fetches: str,
    mode: str = "recorded",
    feeds: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    **options: Any,
) -> tuple[Profile, VariableStore]:
    """The profile of the graph's fetches, and the variables after it."""
    graph = builder.build()
    arrays = feed_arrays(graph, feeds or {})
    plan = compile_plan(graph, [TensorRef.parse(f) for f in fetches], (), infer_fed_types(arrays))
    store = initial_store(graph, CPU, {n: np.asarray(x) for n, x in (initial or {}).items()})
    rewrite = (lambda p: optimize(p, CPU)) if mode == "fast" else None
    recording = laid_out(plan, CPU, functions or {}, store, rewrite)
    recording.feed(arrays)
    return measure(recording, store, **options), store


def costs(found: Profile) -> dict[str, Cost]:
    return {cost.step.op.name: cost for cost in found.costs}


def python(builder: GraphBuilder, x: Any, name: str) -> Tensor:
    """An operation that calls a Python function of its own name."""
    kinds = {"Tin": (DType.FLOAT32,), "Tout": (DType.FLOAT32,), "shapes": (Shape.of(2),)}
    return builder.one("PyFunc", x, name=name, token=name, **kinds)


@pytest.mark.parametrize("mode", LAYOUTS)
def test_bytes_and_calls_of_each_operation(mode: str) -> None:
    b = GraphBuilder()
    x, w = b.placeholder("x", shape=(3, 4)), b.variable("w", shape=(4, 5))
    b.one("Relu", b.one("MatMul", x, w, name="product"), name="y")
    feeds, initial = {"x": np.ones((3, 4))}, {"w": np.ones((4, 5))}
    found, _ = profile(b, "y", mode=mode, feeds=feeds, initial=initial, runs=2)
    by_name = costs(found)
    product, y, w_cost = by_name["product"], by_name["y"], by_name["w"]
    assert (product.made, product.read) == (3 * 5 * 4, (3 * 4 + 4 * 5) * 4)
    assert (y.made, y.read) == (60, 60)
    assert (w_cost.calls, w_cost.made, w_cost.seconds) == (0, 0, 0.0)
    assert product.calls >= 1
    assert found.runs == 2
    assert found.seconds > 0


def test_the_time_is_that_of_the_operation_that_takes_it() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    python(b, x, "quick")
    python(b, x, "slow")
    wait = {"quick": lambda x: x, "slow": lambda x: (time.sleep(0.005), x)[1]}
    found, _ = profile(b, "quick", "slow", feeds={"x": [1, 2]}, functions=wait, runs=3)
    by_name = costs(found)
    assert by_name["slow"].seconds >= 0.004
    assert by_name["quick"].seconds < by_name["slow"].seconds
    assert found.seconds >= 0.004


@pytest.mark.parametrize("mode", LAYOUTS)
def test_each_run_goes_on_where_the_one_before_ended(mode: str) -> None:
    """One run to warm up; then three whole ones and three with the clock."""
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=()), 1.0, name="count")
    found, store = profile(b, "count", mode=mode, initial={"n": 0.0}, runs=3)
    assert found.runs == 3
    assert store["n"] == 7


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_blocked_operations_keep_a_row_each(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv(VARIABLE, threads)
    b = GraphBuilder()
    size = 5 * BLOCK + 1
    x = b.placeholder("x", shape=(size,))
    b.one("Tanh", b.one("Exp", x, name="inner"), name="y")
    found, _ = profile(b, "y", mode="fast", feeds={"x": np.zeros(size)}, runs=1)
    by_name = costs(found)
    assert [(c.calls, c.made, c.read) for c in (by_name["inner"], by_name["y"])] == [
        (6, 4 * size, 4 * size)
    ] * 2
    assert min(by_name["inner"].seconds, by_name["y"].seconds) > 0


def test_a_result_whose_shape_only_the_run_knows() -> None:
    b = GraphBuilder()
    b.one("Where", b.placeholder("x", "bool", (4,)), name="places")
    found, _ = profile(b, "places", feeds={"x": [True, False, True, True]}, runs=1)
    assert costs(found)["places"].made == 3 * 8


@pytest.mark.parametrize("mode", LAYOUTS)
def test_a_failure_is_said_at_its_operation(mode: str) -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    python(b, x, "broken")

    def broken(x: Any) -> Any:
        raise ValueError("no luck")

    with pytest.raises(GradstepError, match="no luck") as caught:
        profile(b, "broken", mode=mode, feeds={"x": [1, 2]}, functions={"broken": broken})
    assert caught.value.node == "broken"


@pytest.mark.parametrize("mode", LAYOUTS)
def test_a_failure_with_the_clock_running(mode: str) -> None:
    """The third run is the first in which every step is timed."""
    b = GraphBuilder()
    python(b, b.placeholder("x", shape=(2,)), "tired")
    runs = iter(range(3))

    def tired(x: Any) -> Any:
        if next(runs) == 2:
            raise ValueError("no more")
        return x

    with pytest.raises(GradstepError, match="no more") as caught:
        profile(b, "tired", mode=mode, feeds={"x": [1, 2]}, functions={"tired": tired})
    assert caught.value.node == "tired"


def test_whoever_is_told_how_far_it_is_can_stop_it() -> None:
    shares: list[float] = []

    def stop(share: float) -> None:
        shares.append(share)
        if share > 0.4:
            raise GradstepError("enough", kind="CancelledError")

    b = GraphBuilder()
    b.one("Exp", b.placeholder("x", shape=(2,)), name="y")
    with pytest.raises(GradstepError, match="enough"):
        profile(b, "y", feeds={"x": [1, 2]}, runs=4, before=stop)
    assert shares == [0, 0.25, 0.5]


@pytest.mark.slow
def test_without_a_number_at_least_three_runs_are_made() -> None:
    b = GraphBuilder()
    python(b, b.placeholder("x", shape=(2,)), "slow")
    slow = {"slow": lambda x: (time.sleep(0.4), x)[1]}
    found, _ = profile(b, "slow", feeds={"x": [1, 2]}, functions=slow)
    assert found.runs == 3


def test_nothing_to_run_takes_no_steps() -> None:
    b = GraphBuilder()
    b.placeholder("x", shape=(2,))
    found, _ = profile(b, "x", feeds={"x": [1, 2]}, runs=1)
    assert found.costs == ()


@pytest.mark.parametrize("mode", LAYOUTS)
def test_what_is_inside_a_loop_is_summed_over_its_iterations(mode: str) -> None:
    """Three iterations, with a loop of two in each. What Python waits for is found where it is."""
    b = GraphBuilder()

    def inner(x: Any) -> Any:
        body = lambda j, x: (j + 1, python(b, x, "slow"))  # noqa: E731
        return tf.while_loop(lambda j, x: j < 2, body, (0, x))[1]

    x = b.placeholder("x", shape=(2,))
    with b.as_default():
        body = lambda i, x: (i + 1, python(b, inner(x), "quick"))  # noqa: E731
        _, y = tf.while_loop(lambda i, x: i < 3, body, (0, x))
    functions = {"quick": lambda x: x, "slow": lambda x: (time.sleep(0.002), x)[1]}
    found, _ = profile(b, y.name, mode=mode, feeds={"x": [1, 2]}, functions=functions, runs=2)
    (outer,) = (cost for cost in found.costs if cost.inside)
    (nested,) = (cost for cost in outer.inside if cost.inside)
    (quick,) = (cost for cost in outer.inside if cost.step.op.type == "PyFunc")
    (slow,) = (cost for cost in nested.inside if cost.step.op.type == "PyFunc")
    assert (outer.iterations, nested.iterations) == (3, 6)
    assert (quick.calls, slow.calls, nested.calls, outer.calls) == (3, 6, 3, 1)
    assert (quick.made, slow.made, slow.read) == (3 * 8, 6 * 8, 6 * 8)
    assert quick.seconds < 0.012 <= slow.seconds <= nested.seconds <= outer.seconds
    for loop in (outer, nested):
        assert sum(cost.seconds for cost in loop.inside) <= loop.seconds
        assert sum(cost.made for cost in loop.inside) < loop.made
    condition = next(c for c in outer.inside if c.step.op.type == "Less")
    assert condition.calls == 4  # once more, to know that there is no other iteration
