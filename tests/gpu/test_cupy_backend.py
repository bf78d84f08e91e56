"""The GPU backend, run on a stand-in for CuPy that refuses what CuPy refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import optimize
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.gpu.compare import compare
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import CUPY_NATIVE, TF_ON_GPU
from gradstep.gpu.lockstep import lockstep
from tests.support.fake_cupy import FakeCupy
from tests.support.fake_xp import FakeArray

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
GRAPHS = Path(__file__).parents[1] / "data" / "oracle" / "graphs"


def program(name: str) -> Program:
    return derive(read(EXAMPLES / name), trusted=True)


@pytest.fixture
def backend() -> CupyBackend:
    return CupyBackend(TF_ON_GPU, "gpu", "a card that does not exist", FakeCupy())


def native() -> CupyBackend:
    return CupyBackend(CUPY_NATIVE, "gpu:native", "a card that does not exist", FakeCupy())


def test_values_go_to_the_device_and_come_back(backend: CupyBackend) -> None:
    there = backend.put(np.arange(3, dtype=np.float32))
    assert isinstance(there, FakeArray)
    back = backend.get(there)
    assert type(back) is np.ndarray
    assert back.tolist() == [0, 1, 2]
    there[...] = backend.put(np.zeros(3, np.float32))
    assert back.tolist() == [0, 1, 2]


def test_waiting_and_memory_are_the_devices(backend: CupyBackend) -> None:
    backend.empty((4,), np.dtype(np.float64))
    backend.sync()
    assert backend.memory() == 32
    assert backend.xp.synchronised == 1
    assert backend.measured
    assert "a card that does not exist" in backend.source


@pytest.mark.parametrize("name", ["tutorial.gradstep", "override_add.gradstep"])
def test_three_runs_of_a_network_give_what_numpy_gives(backend: CupyBackend, name: str) -> None:
    """Forward, backward and Adam, recorded run by run."""
    sessions = [DebugSession(program(name), b) for b in (backend, NumpyBackend())]
    for _ in range(3):
        there, here = (session.continue_() for session in sessions)
        assert (there.reason, there.error) == (here.reason, None)
    fetched = [
        [session.frame(run, None).value(ref) for run in range(3) for ref in session.program.fetches]
        for session in sessions
    ]
    assert len(fetched[0]) >= 9
    for a, b in zip(*fetched, strict=True):
        assert isinstance(b, np.ndarray)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["tutorial", "batch_norm_updates", "two_networks", "focal_loss"])
def test_shapes_axes_and_what_is_computed_of_them_are_not_fetched(
    backend: CupyBackend, name: str
) -> None:
    """Each time the host would wait for all that the device was given to do."""
    session = DebugSession(program(f"{name}.gradstep"), backend)
    session.continue_()
    before = FakeArray.host_reads
    assert session.continue_().error is None
    assert FakeArray.host_reads == before


def test_an_axis_that_an_edit_changes_is_read_anew(backend: CupyBackend) -> None:
    def summed(axis: int) -> Program:
        b = GraphBuilder()
        x = b.placeholder("x", shape=(2, 3))
        b.one("Sum", x, np.array(axis, np.int32), name="total")
        graph = b.build()
        feeds = {TensorRef("x"): np.arange(6, dtype=np.float32).reshape(2, 3)}
        return Program(graph=graph, forward=graph, fetches=(TensorRef("total"),), feeds=feeds)

    first = DebugSession(summed(0), backend)
    first.continue_()
    after = DebugSession(summed(1), backend, before=first)
    after.continue_()
    assert after.frame(0, None).value(TensorRef("total")).tolist() == [3, 12]


def test_the_tutorial_in_lockstep(backend: CupyBackend) -> None:
    found = compare(program("tutorial.gradstep"), NumpyBackend(), backend)
    assert {node.phase for node in found.nodes} == {"forward", "backward", "update"}
    assert {node.verdict for node in found.nodes} == {"equal"}
    assert (found.measured, found.first_divergence) == (True, None)


@pytest.mark.parametrize(
    ("backend_of", "expected"),
    [
        (lambda: CupyBackend(TF_ON_GPU, "gpu", "card", FakeCupy()), [1, 2, 0]),
        (native, [1, 2, 2]),
    ],
    ids=["gpu", "gpu:native"],
)
def test_gather_follows_the_rules_that_were_asked_for(backend_of, expected: list[int]) -> None:
    found = compare(program("gather.gradstep"), NumpyBackend(), backend_of())
    node = next(n for n in found.nodes if n.name == "b")
    assert node.right.values == expected
    assert found.first_divergence == "b"


def test_session_runs_matrix_products_and_reductions(backend: CupyBackend) -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(None, 3))
    y = b.one("MatMul", x, np.ones((3, 2), np.float32), name="y")
    b.one("Softmax", y, name="p")
    b.one("Mean", y, np.array([0, 1], np.int32), name="m")
    feeds = {"x:0": np.arange(6, dtype=np.float32).reshape(2, 3)}
    fetches = [TensorRef("p"), TensorRef("m")]
    there = Session(b.build(), backend).run(fetches, feeds)
    here = Session(b.build()).run(fetches, feeds)
    for a, c in zip(there, here, strict=True):
        np.testing.assert_array_equal(a, c)
    assert there[1].shape == ()


def test_a_device_error_that_surfaces_late_is_located() -> None:
    class Sticky(CupyBackend):
        def get(self, array: object) -> np.ndarray:
            raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access")

    broken = Sticky(TF_ON_GPU, "gpu", "card", FakeCupy())
    b = GraphBuilder()
    b.one("Neg", b.placeholder("x", shape=(2,)), name="y")
    ran = Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("y"),),
        feeds={TensorRef("x"): np.ones(2, np.float32)},
    )
    node = compare(ran, NumpyBackend(), broken).nodes[-1]
    assert (node.name, node.verdict, node.right.status) == ("y", "raises", "raised")
    assert "cudaErrorIllegalAddress" in node.right.text


def test_random_numbers_are_the_hosts(backend: CupyBackend) -> None:
    b = GraphBuilder()
    shape = np.array([5], np.int32)
    b.one("RandomStandardNormal", shape, dtype=DType.FLOAT32, seed=1, name="n")
    b.one("RandomShuffle", b.get("n"), seed=2, name="s")
    b.one("Multinomial", b.one("ExpandDims", b.get("n"), 0), 6, seed=3, name="m")
    there, here = Session(b.build(), backend), Session(b.build())
    for _ in range(3):
        pairs = zip(there.run(["n", "s", "m"]), here.run(["n", "s", "m"]), strict=True)
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)


def test_rows_are_updated_in_the_hosts_order(backend: CupyBackend) -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=(3, 2))
    rng = np.random.default_rng(1)
    rows, updates = rng.integers(0, 3, 50), rng.normal(size=(50, 2)).astype(np.float32)
    b.one("ScatterAdd", v, rows.astype(np.int32), updates, name="it")
    sessions = [
        Session(b.build(), where, initial={"v": np.ones((3, 2), np.float32)})
        for where in (backend, NumpyBackend())
    ]
    one, other = (session.run(["it"])[0] for session in sessions)
    np.testing.assert_array_equal(one, other)


def test_a_comparison_draws_the_same_numbers_on_every_track(backend: CupyBackend) -> None:
    """A reference in float64 that drew others would blame the device for them."""
    b = GraphBuilder()
    shape = np.array([64], np.int32)
    drawn = b.one("RandomUniform", shape, dtype=DType.FLOAT32, seed=1)
    b.one("Mul", drawn, 3.0, name="y")
    graph = b.build()
    program = Program(graph, graph, fetches=(TensorRef("y"),))
    assert {n.verdict for n in compare(program, NumpyBackend(), backend).nodes} == {"equal"}
    (turn,) = (t for t in lockstep(program, NumpyBackend(), backend) if t.op.name == "y")
    (wide,), (narrow,) = turn.reference.outputs, turn.left.outputs
    assert wide.dtype == np.float64
    np.testing.assert_allclose(narrow, wide, rtol=1e-6)


@pytest.mark.parametrize("fast", [False, True])
def test_text_stays_on_the_host(backend: CupyBackend, fast: bool) -> None:
    """CuPy has no arrays of text: tags, and the summaries that are made of them."""
    graph = read(GRAPHS / "summaries.pb").graph
    found = []
    for where in (backend, NumpyBackend()):
        session = Session(graph, where, fast=fast)
        session.run([], targets=["init"])
        found += session.run(["merged:0"])
    assert isinstance(found[0].item(), bytes)
    assert found[0].item() == found[1].item()


@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_fast_run_takes_large_tensors_whole(
    backend: CupyBackend, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    """Blocks that fit in a processor's cache would be a launch each on a card."""
    monkeypatch.setenv("GRADSTEP_THREADS", threads)
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (1 << 20,))
    y = build.one("Tanh", build.one("Mul", x, build.one("AddV2", x, x)))
    value = np.linspace(-1, 1, 1 << 20, dtype=np.float32)
    plan = compile_plan(build.build(), [y.ref], (), {x.ref: build.type_of(x.ref)})
    run = FastRun(optimize(plan, backend), backend)
    run.feed({x.ref: value})
    run.begin({})
    assert len([*run.calls]) == 3
    assert run.run(0, 3) == (3, None)
    where = run.plan.tensors[y.ref]
    assert isinstance(where, int)
    np.testing.assert_allclose(backend.get(run.value(where)), np.tanh(2 * value * value), rtol=1e-6)
