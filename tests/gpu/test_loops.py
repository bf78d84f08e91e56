"""Loops on a device: iterations, their gradients, and the comparison with the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
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

    def adapt(self, definition: OpDef, kernel: Callable[..., Any]) -> Callable[..., Any]:
        plain = super().adapt(definition, kernel)
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
