"""Where memory is used again there are traps: each is a small program, run in every way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.optimizers import apply_updates
from tests.support.layouts import (
    EXACT,
    Case,
    assert_same,
    check,
    passes,
    run,
    run_once,
    session,
)
from tests.support.random_networks import OPTIMIZERS

START = np.array([[0.5, -1.25], [2.0, 0.75]], np.float32)
FEED = np.array([[1.5, 0.25], [-0.5, 3.0]], np.float32)
Program = Callable[[GraphBuilder, Tensor, Tensor], list[Tensor]]


def ran(program: Program, start: np.ndarray = START, feed: np.ndarray = FEED) -> Case:
    """`program` on a fed x and a variable v; it returns what is fetched."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=feed.shape)
    v = b.variable("v", shape=start.shape)
    fetched = program(b, x, v)
    refs = tuple(dict.fromkeys(t.ref for t in fetched))
    return Case(b.build(), refs, (), {x.ref: feed}, {"v": start})


def read_before_and_after_an_update(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    before = v * 2.0
    with b.control_dependencies([before.ref.op]):
        update = b.one("AssignAdd", v, x)
    with b.control_dependencies([update.ref.op]):
        after = b.one("Identity", v)
        return [before, update, after, after * before, before + v]


def fetched_and_then_overwritten(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    a = tf.tanh(x * v)
    c = a + 1.0
    d = tf.exp(c)
    return [c, d * d, a]


def aliases_of_a_variable(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    one, two = b.one("Identity", v), b.one("Identity", b.one("Identity", v))
    update = b.one("AssignSub", v, x * one)
    return [one, two, update, v, one + update]


def a_variable_assigned_to_itself(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    first = b.one("Assign", v, v + x)
    second = b.one("Assign", v, first * first)
    third = b.one("AssignAdd", v, second)
    return [third]


def twice_the_same_input(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    """Of kernels that write to their result while they work."""
    kinds = ("TanhGrad", "SigmoidGrad", "ReluGrad", "SoftplusGrad", "EluGrad", "MatMul", "Sub")
    found = [b.one(kind, y, y) for kind in kinds for y in [tf.tanh(x + v)]]
    y = tf.tanh(x * v)
    found += [b.one("AddN", y, y, y), b.one("AddN", t := tf.exp(x), tf.exp(v), t)]
    found += [b.one("Select", tf.sin(x) > 0.0, z := tf.sin(v), z)]
    return found


def equal_inputs_that_become_one(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    """Once common subexpressions are merged."""
    y, z = tf.tanh(x), tf.tanh(x)
    return [b.one("AddN", y, z, y), b.one("TanhGrad", tf.exp(v), tf.exp(v))]


def twice_the_same_memory(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    """A tensor and another shape of it, and back."""
    y = tf.tanh(x)
    again = tf.reshape(tf.reshape(y, [4]), [2, 2])
    return [b.one("AddN", y, again, y), b.one("TanhGrad", z := tf.exp(x), tf.reshape(z, [2, 2]))]


def transposed(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    y = tf.tanh(x)
    turned = tf.transpose(y)
    return [y + turned, tf.matmul(turned, y), turned - v, tf.transpose(tf.transpose(y) * 2.0)]


def another_shape_of_a_variable(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    flat = tf.reshape(v, [4])
    with b.control_dependencies([flat.ref.op]):
        update = b.one("Assign", v, x * 3.0)
    with b.control_dependencies([update.ref.op]):
        return [flat + 1.0, flat, tf.reshape(v, [4]), tf.reshape(flat, [2, 2]) * v]


def snapshots_of_a_handle(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    """Reads before an update, looked at after it; as they are, in another shape, transposed."""
    handle = b.one("VarHandleOp", name="r", dtype=DType.FLOAT32, shape=Shape.of(2, 2))
    b.op("AssignVariableOp", handle, x, name="set", dtype=DType.FLOAT32)
    with b.control_dependencies(["set"]):
        before = b.one("ReadVariableOp", handle, dtype=DType.FLOAT32)
    flat, turned = tf.reshape(before, [4]), tf.transpose(before)
    with b.control_dependencies([flat.ref.op, turned.ref.op]):
        b.op("AssignAddVariableOp", handle, before, name="add", dtype=DType.FLOAT32)
    with b.control_dependencies(["add"]):
        after = b.one("ReadVariableOp", handle, dtype=DType.FLOAT32)
        return [before, flat, turned, after, before + after, flat * 2.0]


def rows_written_while_read(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
    rows = np.array([1, 0], np.int32)
    swapped = b.one("ScatterUpdate", v, rows, v)
    return [swapped, b.one("ScatterAdd", v, np.array([0, 0], np.int32), swapped)]


PROGRAMS = (
    read_before_and_after_an_update,
    fetched_and_then_overwritten,
    aliases_of_a_variable,
    a_variable_assigned_to_itself,
    twice_the_same_input,
    equal_inputs_that_become_one,
    twice_the_same_memory,
    transposed,
    another_shape_of_a_variable,
    snapshots_of_a_handle,
    rows_written_while_read,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_trap(program: Program) -> None:
    """Everything fetched, each fetch by itself, and without any pass."""
    case = ran(program)
    assert not check(case)[0].error
    for ref in case.fetches:
        check(case.fetching([ref]))
    with passes(()):
        assert_same(run(case, fast=False), run(case, fast=True))


def swap(b: GraphBuilder) -> tuple[Case, str]:
    """v takes the value of w, and w twice that; and the last operation."""
    v, w = b.variable("v", shape=(2,)), b.variable("w", shape=(2,))
    first = b.one("Assign", v, w)
    with b.control_dependencies([first.ref.op]):
        second = b.one("Assign", w, b.one("Mul", v, 2.0))
    start = {"v": np.array([1, 2], np.float32), "w": np.array([3, 4], np.float32)}
    return Case(b.build(), (v.ref, w.ref), (second.ref.op,), {}, start), second.ref.op


def failing_after(b: GraphBuilder, case: Case, name: str) -> Case:
    """`case`, in which operation `name` is followed by one that fails on odd numbers."""
    x = b.placeholder("x", shape=(2,))
    with b.control_dependencies([name]):
        check = b.one("CheckNumerics", x, message="odd")
        with b.control_dependencies([check.ref.op]):
            last = b.one("AssignAdd", b.get("v:0"), x)
    return Case(b.build(), case.fetches, (last.ref.op,), {x.ref: FEED[0]}, case.initial)


def test_what_was_updated_before_a_failure_stays_updated() -> None:
    """Wherever the new value was made; and the next run goes on from there."""
    b = GraphBuilder()
    case, last = swap(b)
    case = failing_after(b, case, last)
    odd = {TensorRef("x"): np.array([1, np.nan], np.float32)}
    plain, fast = session(case, fast=False), session(case, fast=True)
    for feeds in (odd, dict(case.feeds), odd, dict(case.feeds)):
        want, have = run_once(plain, case, feeds), run_once(fast, case, feeds)
        assert_same([want], [have])
        assert bool(want.error) == (feeds is odd)


def test_a_replaced_value_outlives_a_failure() -> None:
    """An update that the next one replaces is what the variable holds between them."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    v = b.variable("v", shape=(2,))
    handle_free = b.one("Exp", v)  # read late: v's own memory is not free
    first = b.one("Assign", v, b.one("Mul", x, 3.0))
    with b.control_dependencies([first.ref.op]):
        busy = tf.tanh(tf.exp(x * 2.0))
        check = b.one("CheckNumerics", busy, message="odd")
        with b.control_dependencies([check.ref.op]):
            last = b.one("Assign", v, busy + handle_free)
    bad = np.array([1, np.nan], np.float32)
    case = Case(b.build(), (last.ref,), (), {x.ref: bad}, {"v": START[0]})
    assert check_error(case) == "CheckNumerics"


def check_error(case: Case) -> str:
    """The operation that fails, in every way the same."""
    (first, *_) = check(case)
    return first.error.partition(" at ")[2].partition(":")[0]


@pytest.mark.parametrize(("kind", "hyper"), OPTIMIZERS)
@pytest.mark.parametrize("resource", [False, True])
def test_a_gradient_that_is_the_variable_itself(
    kind: str, hyper: dict[str, float], resource: bool
) -> None:
    """The loss is half the square: what updates the variable reads it under another name."""
    b = GraphBuilder()
    if resource:
        v = b.one("VarHandleOp", name="v", dtype=DType.FLOAT32, shape=Shape.of(2, 2))
        value = b.one("ReadVariableOp", v, dtype=DType.FLOAT32)
    else:
        v = value = b.variable("v", shape=(2, 2))
    (gradient,) = gradients(b.one("L2Loss", value), [v])
    assert isinstance(gradient, Tensor)
    updates = apply_updates(b, kind, hyper, [("v", gradient)])
    fetches = (value.ref, gradient.ref)
    initial = {**updates.initial, "v": START}
    case = Case(b.build(), fetches, updates.targets, {}, initial)
    check(case, runs=4)
    check(case.fetching([]), runs=4)


SIZES = (1 << 16, (1 << 16) + 1, 3 << 14, (5 << 14) - 1, 100_003)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_blocks_of_large_tensors(size: int) -> None:
    """Chains with scalars, masks, a reduction in their middle, updates at their end."""

    def program(b: GraphBuilder, x: Tensor, v: Tensor) -> list[Tensor]:
        a = tf.tanh(x * v) * 0.5 + x
        mean = tf.reduce_mean(a)
        c = b.one("Select", a > x, a - mean, tf.exp(v))
        d = tf.nn.relu(c) + b.one("AddN", a, a, c)
        (gradient,) = gradients(d * d, [v])
        assert isinstance(gradient, Tensor)
        update = b.one("AssignSub", v, gradient * 0.01)
        with b.control_dependencies([update.ref.op]):
            return [d, mean, gradient, tf.sqrt(v * v) - c]

    random = np.random.default_rng(size)
    start, feed = (random.normal(size=size).astype(np.float32) for _ in range(2))
    feed[:: size // 7] = np.nan
    case = ran(program, start=start, feed=feed)
    want = check(case, runs=2)
    for ref in case.fetches:
        check(case.fetching([ref]), runs=2, debug=False)
    for name in EXACT:
        with passes({*EXACT} - {name}):
            assert_same(want, run(case, fast=True, runs=2), f"without {name}")


def test_an_error_in_what_nobody_looks_at_is_not_met_in_a_fast_run() -> None:
    """As in TensorFlow, whose optimizer leaves out what only a control dependency asks for and
    what has no effect; a recorded run does all it was told to."""
    b = GraphBuilder()
    x = b.constant([1.0, 2.0])
    index = b.placeholder("i", "int32", (1,))
    b.one("GatherV2", x, index, np.array(0, np.int32), name="g")
    case = Case(b.build(), (x.ref,), ("g",), {index.ref: np.array([9], np.int32)}, {})
    (plain,), (fast,) = run(case, fast=False, runs=1), run(case, fast=True, runs=1)
    assert "9 is not in [0, 2)" in plain.error
    assert not fast.error
