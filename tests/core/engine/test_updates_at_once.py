"""Updates of many variables as one: what is merged, what it saves, and that nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.optimizers import OPTIMIZERS, apply_updates
from tests.support.layouts import Case, check

Loss = Callable[[GraphBuilder, dict[str, Tensor]], Tensor]
SHAPES = {"a": (3,), "b": (2, 3), "s": ()}
START = {n: np.linspace(0.5, 1.5, int(np.prod(s))).reshape(s) for n, s in SHAPES.items()}
X = {TensorRef("x"): np.array([0.5, -1, 2], np.float32)}
HYPER = {"learning_rate": 0.1, "momentum": 0.9}


def every_one(b: GraphBuilder, v: dict[str, Tensor]) -> Tensor:
    """A loss in which every variable has a gradient of its own."""
    x = b.placeholder("x", shape=(3,))
    return b.one("Sum", b.one("Tanh", x * v["a"] + v["b"]) * v["s"], [0, 1])


def trained(
    loss_of: Loss,
    optimizers: Sequence[tuple[str, Mapping[str, float], Sequence[str]]],
    fetches: Sequence[str] = (),
) -> Case:
    """Training steps by these optimizers, of these variables each."""
    b = GraphBuilder()
    loss = loss_of(b, {name: b.variable(name, shape=shape) for name, shape in SHAPES.items()})
    targets: list[str] = []
    initial = {name: x.astype(np.float32) for name, x in START.items()}
    for type, hyper, names in optimizers:
        grads = gradients(loss, [b.get(f"{name}:0") for name in names])
        pairs = [(n, g) for n, g in zip(names, grads, strict=True) if g is not None]
        updates = apply_updates(b, type, hyper, pairs)
        targets += updates.targets
        initial |= updates.initial
    graph = b.build()
    refs = (loss.ref, *map(TensorRef.parse, fetches))
    feeds = X if "x" in graph else {}
    return Case(graph, refs, tuple(targets), feeds, initial)


def fast(case: Case, without: Sequence[str] = ()) -> FastRun:
    session = Session(case.graph, initial=case.initial, fast=True, without=without)
    session.run(case.fetches, case.feeds, case.targets)
    (recording,) = session.recordings
    assert isinstance(recording, FastRun)
    return recording


def calls(recording: FastRun, type: str) -> int:
    return sum(recording.plan.steps[i].op.type == type for i, _ in recording.calls)


@pytest.mark.parametrize("type", OPTIMIZERS)
def test_every_optimizer_computes_the_same_bits_at_once(type: str) -> None:
    taken = {n: v for n, v in HYPER.items() if n in OPTIMIZERS[type]}
    case = trained(every_one, [(type, taken, [*SHAPES])])
    check(case)
    assert max(step.times for step in fast(case).plan.steps) == 3


def test_three_variables_take_the_calls_of_one() -> None:
    three = fast(trained(every_one, [("Adam", {}, [*SHAPES])]))
    one = fast(trained(every_one, [("Adam", {}, ["b"])]))
    assert calls(three, "ApplyAdam") <= calls(one, "ApplyAdam")
    apart = fast(
        trained(every_one, [("Adam", {}, [*SHAPES])]), without=["one update for many variables"]
    )
    assert calls(apart, "ApplyAdam") > 2.5 * calls(three, "ApplyAdam")


def test_nothing_is_copied_for_it() -> None:
    recording = fast(trained(every_one, [("Adam", {}, [*SHAPES])]))
    functions = [getattr(call, "func", call) for _, call in recording.calls]
    assert np.concatenate not in functions


def shared_gradient(b: GraphBuilder, v: dict[str, Tensor]) -> Tensor:
    return b.one("Sum", b.one("Tanh", v["a"] + v["b"] * 2.0) * v["s"], [0, 1])


def each_others(b: GraphBuilder, v: dict[str, Tensor]) -> Tensor:
    """The gradient of a is b summed, and of s a number; the variables are read by the gradients."""
    return b.one("Sum", v["a"] * v["b"], [0, 1]) * v["s"]


@pytest.mark.parametrize("loss", [shared_gradient, each_others])
@pytest.mark.parametrize("type", ["Adam", "GradientDescent"])
def test_gradients_that_lie_elsewhere_are_right_too(loss: Loss, type: str) -> None:
    taken = {n: v for n, v in HYPER.items() if n in OPTIMIZERS[type]}
    check(trained(loss, [(type, taken, [*SHAPES])]))


def test_one_variable_is_the_gradient_of_the_other() -> None:
    """What one step reads of the old value the other must not have overwritten."""
    b = GraphBuilder()
    a, c = (b.variable(name, shape=(3,)) for name in "ac")
    loss = b.one("Sum", a * c, [0])
    grads = gradients(loss, [a, c])
    pairs = [(n, g) for n, g in zip("ac", grads, strict=True) if g is not None]
    updates = apply_updates(b, "GradientDescent", {"learning_rate": 0.1}, pairs)
    initial = {n: np.arange(3, dtype=np.float32) + i for i, n in enumerate("ac")}
    check(Case(b.build(), (loss.ref,), updates.targets, {}, initial))


def test_fetched_gradients_are_there_after_the_run() -> None:
    case = trained(every_one, [("Adam", {}, [*SHAPES])])
    adam = next(op for op in case.graph if op.type == "ApplyAdam")
    assert adam.inputs[-1] is not None
    check(case.fetching((*case.fetches, adam.inputs[-1])))


def test_other_rates_are_other_updates() -> None:
    rates = [("GradientDescent", {"learning_rate": r}, [n]) for r, n in ((0.1, "a"), (0.2, "b"))]
    case = trained(every_one, rates)
    check(case)
    assert {step.times for step in fast(case).plan.steps} == {1}


def test_what_was_updated_before_a_failure_stays_updated() -> None:
    """The second update does not draw the first behind the step that fails."""
    b = GraphBuilder()
    n, m = (b.variable(name, shape=(2,)) for name in "nm")
    first = b.one("AssignAdd", n, [1.0, 1.0], name="first")
    with b.control_dependencies([first.ref.op]):
        checked = b.one("CheckNumerics", b.placeholder("x", shape=(2,)), message="x")
        b.one("AssignAdd", m, checked, name="second")
    start = {name: np.zeros(2, np.float32) for name in "nm"}
    feeds = {TensorRef("x"): np.array([np.nan, 1], np.float32)}
    seen = check(Case(b.build(), (), ("second",), feeds, start))
    assert "CheckNumerics" in seen[0].error
    session = Session(b.build(), initial=start, fast=True)
    with pytest.raises(GradstepError):
        session.run([], feeds, ["second"])
    np.testing.assert_array_equal(session.store["n"], [1, 1])


def test_the_store_shows_every_variable_by_name_and_can_be_written_to() -> None:
    case = trained(every_one, [("Adam", {}, [*SHAPES])])
    plain, quick = (Session(case.graph, initial=case.initial, fast=f) for f in (False, True))
    for session in (plain, quick):
        session.run(case.fetches, case.feeds, case.targets)
        session.store.set("b", np.full((2, 3), 0.25, np.float32))
        session.run(case.fetches, case.feeds, case.targets)
    copy = quick.store.copy()
    quick.run(case.fetches, case.feeds, case.targets)
    for name, array in plain.store.items():
        assert array.shape == copy[name].shape
        assert array.tobytes() == copy[name].tobytes(), name
    (recording,) = quick.recordings
    assert isinstance(recording, FastRun)
    assert calls(recording, "ApplyAdam") == calls(fast(case), "ApplyAdam")  # still side by side


def test_a_value_of_another_shape_takes_its_variable_out_of_the_row() -> None:
    case = trained(every_one, [("Adam", {}, [*SHAPES])])
    session = Session(case.graph, initial=case.initial, fast=True)
    session.run(case.fetches, case.feeds, case.targets)
    session.store.set("a", np.zeros((1, 3), np.float32))
    assert session.store["a"].shape == (1, 3)
    assert session.store["b"].shape == (2, 3)


def test_a_product_that_is_assigned_is_made_where_the_variable_lies() -> None:
    b = GraphBuilder()
    n = b.variable("n", shape=(3,))
    b.one("Assign", n, n * 2.0, name="double")
    start = {"n": np.array([1, 2, 3], np.float32)}
    case = Case(b.build(), (TensorRef("double"),), (), {}, start)
    check(case)
    recording = fast(case)
    assert [recording.plan.steps[i].op.type for i, _ in recording.calls] == ["Mul"]


def test_a_product_that_is_read_elsewhere_is_assigned() -> None:
    b = GraphBuilder()
    n = b.variable("n", shape=(3,))
    twice = n * 2.0
    b.one("Assign", n, twice, name="double")
    start = {"n": np.array([1, 2, 3], np.float32)}
    check(Case(b.build(), (TensorRef("double"), twice.ref), (), {}, start))
