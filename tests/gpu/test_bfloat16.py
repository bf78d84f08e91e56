"""bfloat16 on other devices: emulated ones compute as NumPy does, a card leaves it to the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.memory.host_values import host_values, short_values
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.gpu.compare import compare
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import PROFILES, TF_ON_GPU
from gradstep.gpu.emulation import EmulatedBackend
from gradstep.gpu.tensor_distance import measure
from gradstep.gpu.tolerances import tolerance
from tests.support.fake_cupy import FakeCupy
from tests.support.fake_xp import FakeArray


def card() -> CupyBackend:
    return CupyBackend(TF_ON_GPU, "gpu", "a card that does not exist", FakeCupy())


class WithBfloat16(FakeCupy):
    """A library of arrays that knows bfloat16, as PyTorch does."""

    holds_bfloat16 = True


class HoldingBackend(CupyBackend):
    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return self.xp.empty(shape, dtype)


def holding() -> CupyBackend:
    return HoldingBackend(TF_ON_GPU, "torch:cpu", "a card that does not exist", WithBfloat16())


def program() -> Program:
    """float32 in and out, and between them a product of bfloat16, which is trained."""
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (2, 3))
    w = build.one("VariableV2", name="w", dtype="bfloat16", shape=Shape.of(3, 4))
    short = build.one("Cast", x, DstT="bfloat16", name="short")
    product = build.one("MatMul", short, tf.identity(w), name="product")
    wide = build.one("Cast", tf.nn.relu(product), DstT="float32", name="wide")
    loss = build.one("Mean", wide, np.array([0, 1], np.int32), name="loss")
    forward = build.build()
    derived = differentiate(forward, GradientRequest(of=(loss.ref,), wrt=(w.ref,)))
    again = GraphBuilder(derived.graph)
    rate = again.constant(0.5, "bfloat16")
    gradient = derived.gradients[w.ref]
    step = again.op("ApplyGradientDescent", Tensor(again, w.ref), rate, Tensor(again, gradient))
    rng = np.random.default_rng(3)
    return Program(
        graph=again.build(),
        forward=forward,
        fetches=(TensorRef("wide"), TensorRef("product"), gradient, TensorRef("loss")),
        targets=(step[0].op.name,),
        feeds={TensorRef("x"): rng.normal(size=(2, 3)).astype(np.float32)},
        initial={"w": rng.normal(size=(3, 4)).astype(BFLOAT16)},
    )


def opened(name: str) -> Backend:
    """A card without bfloat16, one with it, or an emulated device."""
    made = {"card": card, "holding": holding}
    return made[name]() if name in made else EmulatedBackend(PROFILES[name])


@pytest.mark.parametrize("name", ["card", "holding", *PROFILES])
def test_three_runs_give_what_numpy_gives(name: str) -> None:
    backend = opened(name)
    sessions = [DebugSession(program(), b) for b in (backend, NumpyBackend())]
    for _ in range(3):
        there, here = (session.continue_() for session in sessions)
        assert (there.reason, there.error) == (here.reason, None)
    for ref in (*sessions[0].program.fetches, TensorRef("w")):
        for run in range(3):
            a, b = (session.frame(run, None).value(ref) for session in sessions)
            assert isinstance(a, np.ndarray)
            assert isinstance(b, np.ndarray)
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", ["card", "holding"])
def test_fast_runs_on_a_card_are_the_same(name: str) -> None:
    made = program()
    found = []
    for backend in (opened(name), NumpyBackend()):
        session = Session(made.graph, backend, initial=made.initial, fast=True)
        feeds = {str(ref): array for ref, array in made.feeds.items()}
        runs = [session.run(made.fetches, feeds, made.targets) for _ in range(3)]
        found.append([array.tobytes() for run in runs for array in run])
    assert found[0] == found[1]


def test_a_card_says_at_the_node_that_it_has_none() -> None:
    rows = {node.name: node for node in compare(program(), NumpyBackend(), card()).nodes}
    assert {row.verdict for row in rows.values()} == {"equal"}
    assert rows["product"].left.dtype == rows["product"].right.dtype == "bfloat16"
    said = "gpu: CuPy has no bfloat16: computed on the host, in float32, and rounded"
    assert rows["short"].rule == rows["product"].rule == rows["wide"].rule == said
    assert rows["loss"].rule == ""
    emulated = compare(program(), NumpyBackend(), EmulatedBackend(TF_ON_GPU)).nodes
    assert {node.rule for node in emulated} == {""}


def test_a_device_that_has_it_computes_there() -> None:
    backend = holding()
    short = backend.put(np.array([1.0, 2.5], BFLOAT16))
    assert isinstance(short, FakeArray)
    b = GraphBuilder()
    x = b.placeholder("x", "bfloat16", (2,))
    b.one("Exp", x, name="it")
    before = FakeArray.host_reads
    (found,) = run_op(backend, b.operation("it"), [short])
    assert FakeArray.host_reads == before
    assert isinstance(found, FakeArray)
    (wanted,) = run_op(NumpyBackend(), b.operation("it"), [short.get()])
    assert found.get().tobytes() == wanted.tobytes()


def test_of_a_device_that_has_it_nothing_is_said_and_nothing_lies_on_the_host() -> None:
    rows = compare(program(), NumpyBackend(), holding()).nodes
    assert {(row.verdict, row.rule) for row in rows} == {("equal", "")}
    made = program()
    plan = compile_plan(made.graph, made.fetches, made.targets)
    assert short_values(plan) <= host_values(plan)
    assert host_values(plan, has_bfloat16=True).isdisjoint(short_values(plan))


def test_how_far_two_may_be_apart() -> None:
    """A hundredth, as PyTorch allows, and measured in units of its own last place."""
    assert tolerance("library", BFLOAT16).rel_l2 == 1.6e-2
    assert tolerance("exact", BFLOAT16).rel_l2 == 0
    one, next_ = (np.array([bits], np.uint16).view(BFLOAT16) for bits in (0x3F80, 0x3F81))
    assert measure(one, next_)["ulp_p99"] == 1
    assert measure(one, next_)["max_abs"] == 2**-7
