"""Loops on a device: iterations, their gradients, and the comparison with the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.loops import trace_budget
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.program.derive import derive
from gradstep.gpu.compare import compare
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import PROFILES, TF_ON_GPU
from gradstep.gpu.emulation import EmulatedBackend
from gradstep.gpu.lockstep import lockstep
from tests.support.fake_cupy import FakeCupy
from tests.support.fake_xp import FakeArray
from tests.support.looping import branched, nested, power, seen, session
from tests.support.random_loops import SEEDS, RandomLoops
from tests.support.rounding import Rounding, assert_rounded_alike

FEEDS = {TensorRef("x"): np.linspace(0.1, 1, 5).astype(np.float32)}


@pytest.fixture
def made() -> tuple[Graph, list[TensorRef]]:
    """Two loops, one inside the other, with an array of tensors, and the gradient."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[5])

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            _, after = tf.while_loop(
                lambda j, a: j < i, lambda j, a: (j + 1, tf.sin(a * x) + 0.1), (0, a)
            )
            return i + 1, after

        _, y = tf.while_loop(lambda i, a: i < 3, body, (0, tf.map_fn(tf.square, x)))
        grad = gradients(y, x)[0]
        assert isinstance(grad, Tensor)
    return builder.build(), [y.ref, grad.ref]


def device() -> CupyBackend:
    return CupyBackend(TF_ON_GPU, "gpu", "a card that does not exist", FakeCupy())


class Rounded(CupyBackend):
    """A card whose sines are off by a rounding."""

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        plain = super().adapt(definition, kernel, op)
        if definition.type != "Sin":
            return plain
        return lambda *inputs: plain(*inputs) * np.float32(1 + 2.0**-22)


def test_an_array_hands_on_what_a_loop_rounded() -> None:
    """Who reads it makes no difference."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[5])
        y = tf.map_fn(tf.sin, x)
        grad = gradients(tf.reduce_sum(y * y), x)[0]
        assert isinstance(grad, Tensor)
    graph = builder.build()
    program = Program(graph, graph, fetches=(y.ref, grad.ref), feeds=dict(FEEDS))
    rounded = Rounded(TF_ON_GPU, "gpu", "a card that does not exist", FakeCupy())
    found = compare(program, NumpyBackend(), rounded)
    assert {node.verdict for node in found.nodes} <= {"equal", "close"}
    assert any(
        node.verdict == "close" and node.type == "TensorArrayGatherV3" for node in found.nodes
    )
    assert found.first_divergence is None


@pytest.mark.parametrize("fast", [False, True])
def test_loops_run_there(made: tuple[Graph, list[TensorRef]], fast: bool) -> None:
    graph, fetches = made
    want = Session(graph).run(fetches, FEEDS)
    there = Session(graph, device(), fast=fast)
    for _ in range(2):
        for a, b in zip(want, there.run(fetches, FEEDS), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_loops_run_there_in_each_way(seed: int) -> None:
    """Nested ones, trip counts that depend on the data, and back through them."""
    builder = GraphBuilder()
    with builder.as_default():
        loops = RandomLoops(tf, seed, builder.placeholder)
        found = gradients(loops.ys, loops.xs)
    fetches = [y.ref for y in loops.ys] + [g.ref for g in found if isinstance(g, Tensor)]
    feeds = {TensorRef(name): np.asarray(value) for name, value in loops.feeds.items()}
    want = Session(builder.build()).run(fetches, feeds)
    for fast in (False, True):
        there = Session(builder.build(), device(), fast=fast)
        for _ in range(2):
            for a, b in zip(want, there.run(fetches, feeds), strict=True):
                np.testing.assert_array_equal(a, b)


def test_counters_and_conditions_are_not_fetched_in_every_iteration() -> None:
    def reads(length: int) -> int:
        builder = GraphBuilder()
        with builder.as_default():
            x = builder.placeholder("x", shape=[3])
            _, y = tf.while_loop(
                lambda i, a: i < length, lambda i, a: (i + 1, tf.sin(a) * x), (0, x)
            )
            grad = gradients(y, x)[0]
        assert isinstance(grad, Tensor)
        session, feeds = Session(builder.build(), device()), {"x:0": np.ones(3, np.float32)}
        session.run([y.ref, grad.ref], feeds)
        before = FakeArray.host_reads
        session.run([y.ref, grad.ref], feeds)
        return FakeArray.host_reads - before

    assert reads(12) == reads(3)


def test_iterations_that_are_done_again_for_want_of_memory_are_the_same() -> None:
    size, count = 2000, 100  # 1.6 MB of what the way back needs
    builder = GraphBuilder()
    with builder.as_default():
        x, w = (builder.placeholder(name, shape=[size]) for name in "xw")

        def body(i: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
            return i + 1, tf.tanh(h * w + tf.cast(i, "float32") * x)

        _, h = tf.while_loop(lambda i, h: i < count, body, (0, x))
        grad = gradients(h, w)[0]
    assert isinstance(grad, Tensor)
    graph, values = builder.build(), np.linspace(0.1, 0.9, size, dtype=np.float32)
    feeds = {TensorRef("x"): values, TensorRef("w"): values[::-1].copy()}
    program, found = Program(graph, graph, fetches=(grad.ref,), feeds=feeds), []
    with patch.object(trace_budget, "LEAST_BYTES", 1 << 18):
        for backend in (device(), NumpyBackend()):
            walk = DebugSession(program, backend, limit_bytes=1 << 20)
            with patch.object(
                LoopRun, "do_again", autospec=True, side_effect=LoopRun.do_again
            ) as did:
                stop = walk.continue_()
            assert (stop.error, did.call_count > 2) == (None, True)
            found.append(walk.frame().value(grad.ref))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("build", [power, nested, branched])
def test_inside_a_loop_the_debugger_shows_what_it_shows_of_numpy(build: Callable[..., Any]) -> None:
    """A counter lies on the host, what is made of it on the device."""
    here, there = session(build, 3), session(build, 3, device())
    names = [op.name for op in within(here.plan.graph) if op.type not in ("Switch", "While")]
    for move in ["step_into"] * 25 + ["step_back"] * 10 + ["step_into"] * 25:
        if move in here.stop.legal:
            here.command(move)
            there.command(move)
        assert (there.stop.op, there.stop.error) == (here.stop.op, here.stop.error)
        assert seen(there, *names) == seen(here, *names)


@pytest.mark.parametrize("name", ["lstm", "while_loop", "assign_in_loop"])
def test_examples_with_loops_go_forward_and_back_there(name: str) -> None:
    program = derive(read(Path(__file__).parents[2] / f"assets/examples/{name}.gradstep"))
    there, here = (DebugSession(program, backend) for backend in (device(), NumpyBackend()))
    for move in ("continue", "continue", "reverse_continue", "step_back", "continue", "continue"):
        stops = [walk.command(move) for walk in (there, here) if move in here.stop.legal]
        assert len({(stop.run, stop.step, stop.reason) for stop in stops}) <= 1
        for ref in program.fetches:
            a, b = (walk.frame().value(ref) for walk in (there, here))
            np.testing.assert_array_equal(a, b)


def test_a_loop_is_compared_as_one_node(made: tuple[Graph, list[TensorRef]]) -> None:
    graph, fetches = made
    program = Program(graph=graph, forward=graph, fetches=tuple(fetches), feeds=FEEDS)
    loops = [t for t in lockstep(program, NumpyBackend(), device()) if t.op.type == "While"]
    assert len(loops) == 4  # of map_fn, of the example, and back through both
    for turn in loops:
        outcomes = turn.left, turn.right, turn.isolated, turn.reference
        assert all(o.ok for o in outcomes), [o.error for o in outcomes]
        for a, b, c, wide in zip(*(o.outputs for o in outcomes), strict=True):
            if a.dtype.kind == "f":
                np.testing.assert_array_equal(a, b)
                np.testing.assert_array_equal(a, c)
                assert_rounded_alike(a, wide, Rounding(terms=4, steps=4, dtype=a.dtype))
    assert any(o.dtype == np.float64 for turn in loops for o in turn.reference.outputs)


def test_a_product_in_a_loop_has_the_room_of_products() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.constant(np.linspace(0.1, 1, 9, dtype=np.float32).reshape(3, 3), name="x")
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, x)), (0, x))
    graph = builder.build()
    program = Program(graph=graph, forward=graph, fetches=(y.ref,), feeds={})
    found = compare(program, NumpyBackend(), EmulatedBackend(PROFILES["tf-gpu"]))
    verdicts = {node.type: node.verdict for node in found.nodes}
    assert verdicts["While"] == "close", "rounded to TF32, three times"
    assert found.first_divergence is None


@pytest.mark.parametrize("apart", [False, True])
def test_what_is_dead_is_not_compared(apart: bool) -> None:
    """apart: the devices go different ways, as one of them flushes what the predicate reads."""
    builder = GraphBuilder()
    with builder.as_default():
        table = builder.constant(np.array([1.0, 2], np.float32))
        tiny = builder.constant(np.float32(1e-40))
        p = tf.greater(tf.add(tiny, 0.0 if apart else 1.0), 0.0, name="p")
        y = tf.cond(
            p, lambda: tf.gather(table, [1], name="yes"), lambda: tf.negative(table, name="no")
        )
    graph = builder.build()
    program = Program(graph=graph, forward=graph, fetches=(y.ref,), feeds={})
    found = compare(program, NumpyBackend(), EmulatedBackend(PROFILES["tf-gpu"]))
    rows = {node.name: node for node in found.nodes}
    no = rows["cond/no"]
    assert (no.verdict, no.left.status) == ("differs" if apart else "dead", "dead")
    assert no.right.status == ("ok" if apart else "dead")
    assert found.first_divergence == ("p" if apart else None), "no branch makes itself dead"


def test_arrays_of_tensors_are_close_where_their_numbers_are() -> None:
    rnn = derive(read(Path(__file__).parents[2] / "assets/examples/rnn.gradstep"))
    found = compare(rnn, NumpyBackend(), EmulatedBackend(PROFILES["tf-gpu"]))
    assert [n.verdict for n in found.nodes if n.type == "While"] == ["close", "close"]
    assert found.first_divergence is None


def test_what_reads_a_devices_own_state_does_not_make_the_difference_in_it() -> None:
    """Arrays of tensors cannot be moved to another device: their reads are never isolated."""

    class Coarse(FakeCupy):
        def tanh(self, x: FakeArray, out: FakeArray | None = None) -> FakeArray:
            made = FakeArray(np.nextafter(np.tanh(x.get()), np.float32(2)))
            if out is None:
                return made
            out[...] = made
            return out

    rnn = derive(read(Path(__file__).parents[2] / "assets/examples/rnn.gradstep"))
    found = compare(rnn, NumpyBackend(), CupyBackend(TF_ON_GPU, "gpu", "card", Coarse()))
    (stacked,) = (n for n in found.nodes if n.name.endswith("TensorArrayStack/TensorArrayGatherV3"))
    assert (stacked.verdict, stacked.creates) == ("close", False)
    assert found.first_divergence is None


@pytest.mark.parametrize(
    ("by", "is_open"), [(tf.negative, False), (tf.exp, True), (tf.reduce_sum, True)]
)
def test_what_an_emulation_leaves_open_in_a_loop(by: Callable[..., Any], is_open: bool) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.constant(np.linspace(0.1, 1, 3, dtype=np.float32), name="x")
        _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, x - by(y)), (0, x))
    graph = builder.build()
    program = Program(graph=graph, forward=graph, fetches=(y.ref,), feeds={})
    found = compare(program, NumpyBackend(), EmulatedBackend(PROFILES["cupy"]))
    (loop,) = (node for node in found.nodes if node.type == "While")
    assert bool(loop.unknown) == is_open
    assert loop.terms == 0


def test_a_write_in_a_branch_that_is_not_taken_leaves_the_variable() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        v = builder.variable("v", shape=())
        p = builder.placeholder("p", "bool", ())
        _, taken = builder.op("Switch", builder.constant(np.float32(7)), p)
        write = builder.one("Assign", v, taken, name="write")
        idle, _ = builder.op("Switch", builder.constant(np.float32(1)), p)
        builder.one("Merge", tf.identity(write), idle, name="either")
        builder.one("Identity", v, name="read", control_inputs=("either",))
    graph = builder.build()
    for is_taken, value in ((False, 3.0), (True, 7.0)):
        feeds = {TensorRef("p"): np.array(is_taken)}
        program = Program(
            graph, graph, fetches=(TensorRef("read"),), feeds=feeds, initial={"v": np.float32(3)}
        )
        found = compare(program, NumpyBackend(), EmulatedBackend(PROFILES["tf-gpu"]))
        rows = {node.name: node for node in found.nodes}
        assert rows["write"].verdict == ("equal" if is_taken else "dead")
        assert rows["read"].left.values == rows["read"].right.values == [value]
