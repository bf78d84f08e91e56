"""Several devices in one run: the numbers, what is sent when, and what stays right after edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.document.placement_edits import place
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.placed_calls import PlacedCall
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.placed_backend import PlacedBackend, with_placement
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.edits import set_devices
from gradstep.core.graph.loop import anywhere, within
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.placed_devices import device_spec
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.placeable_ops import can_be_placed
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.program.derive import compile_functions, derive
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.devices import Devices
from gradstep.gpu.emulated_systems import TF_ON_GPU
from tests.support.edited_sessions import assert_as_new
from tests.support.fake_cupy import FakeCupy
from tests.support.layouts import EXACT, Case, Seen, assert_same, passes, run, run_once
from tests.support.random_networks import networks
from tests.support.random_programs import programs
from tests.support.rounding import Rounding, assert_rounded_alike

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"


def card(name: str = "gpu") -> Backend:
    """Arrays of another type than NumPy's: one that is read at home, or there, without being sent
    is an error."""
    return CupyBackend(TF_ON_GPU, name, "no card", FakeCupy())


class Everywhere(dict[str, str]):
    """Every operation on the card."""

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return "gpu"


def all_on_card() -> PlacedBackend:
    return PlacedBackend(NumpyBackend(), {"gpu": card()}, Everywhere())


@given(programs(), st.data())
@pytest.mark.slow
def test_every_frame_is_that_of_a_new_session(case: Case, data: st.DataObject) -> None:
    assert_as_new(case, data, all_on_card)


def session_of(document: Document, opener: Callable[[str], Backend] = card) -> DebugSession:
    functions, _ = compile_functions(document, True, print)
    program = drop_unfinished(derive(document, functions))
    return DebugSession(program, with_placement(NumpyBackend(), document.graph, opener))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tutorial", "lstm", "cnn_digits", "while_loop", "batch_norm_updates", "override_add"]
)
def test_an_example_gives_on_two_devices_what_it_gives_on_one(name: str) -> None:
    document = gradstep_file.load(EXAMPLES / f"{name}.gradstep")
    placed = place(document, _placeable(document.graph), "gpu")
    one, two = session_of(document), session_of(placed)
    for session in (one, two):
        for _ in range(2):
            session.command("continue_")
    assert isinstance(two.backend, PlacedBackend)
    assert two.backend.transfers.sent["gpu"][0] > 0
    here, there = one.frame(), two.frame()
    for op in one.program.graph:
        expected, found = here.value(f"{op.name}:0"), there.value(f"{op.name}:0")
        assert (expected is None) == (found is None), op.name
        if expected is not None and expected.dtype.kind in "fc":
            assert type(found) is np.ndarray
            assert_rounded_alike(found, expected, Rounding(terms=1000), op.name)


def _placeable(graph: Graph) -> list[str]:
    return [op.name for op in graph if can_be_placed(op)]


def diamond() -> Document:
    """x is read twice on the card, whose own results are read there and here."""
    build = GraphBuilder()
    x = build.placeholder("x", shape=(2, 3))
    a = build.one("Tanh", x, name="a")
    b = build.one("Exp", x, name="b")
    c = build.one("AddV2", a, b, name="c")
    build.one("Neg", c, name="d")
    document = Document(build.build(), fetches=(TensorRef("d", 0),))
    document = document_edits.set_feed(document, "x:0", np.ones((2, 3), np.float32))
    return place(document, ["a", "b", "c"], "gpu")


def run_placed(case: Case, names: Iterable[str], fast: bool) -> tuple[list[Seen], Session]:
    """Some runs with these operations on the card."""
    graph = set_devices(case.graph, dict.fromkeys(names, device_spec("gpu")))
    backend = with_placement(NumpyBackend(), graph, card)
    on = Session(graph, backend, case.functions, case.initial, fast=fast)
    return [run_once(on, case) for _ in range(3)], on


@given(st.one_of(networks(), programs()), st.data())
@pytest.mark.slow
def test_a_fast_run_gives_the_bits_of_a_recorded_one(case: Case, data: st.DataObject) -> None:
    able = [op.name for op in within(case.graph) if can_be_placed(op)]
    names = data.draw(st.sets(st.sampled_from(able)) if able else st.just(set[str]()))
    with passes(EXACT):
        found = [run_placed(case, names, fast)[0] for fast in (False, True)]
    assert_same(found[0], found[1])
    assert_same(run(case, fast=False), found[0])


def test_a_fast_run_is_made_smaller_around_what_is_placed() -> None:
    """Home has an identity, a sum of two and equal subexpressions; the card has the same, and is
    left as it is, but for what nobody looks at."""
    build = GraphBuilder()
    x = build.placeholder("x", shape=(8,))
    found = []
    for where in ("home", "card"):
        same = build.one("Identity", x, name=f"{where}/same")
        twice = [build.one("Tanh", same, name=f"{where}/tanh{i}") for i in range(2)]
        found.append(build.one("AddN", *twice, name=f"{where}/sum", N=2))
        build.one("Exp", same, name=f"{where}/unread")
    graph = build.build()
    unread = tuple(f"{where}/unread" for where in ("home", "card"))
    fetches = tuple(each.ref for each in found)
    case = Case(graph, fetches, unread, {x.ref: np.arange(8, dtype=np.float32)})
    names = [op.name for op in graph if op.name.startswith("card")]
    want, _ = run_placed(case, names, fast=False)
    assert not want[0].error
    have, session = run_placed(case, names, fast=True)
    assert_same(want, have)
    [recording] = session.recordings
    assert isinstance(recording, FastRun)
    made = [step.op.name for step in recording.plan.steps if step.computes]
    assert [name for name in made if name.startswith("home")] == ["home/tanh0", "home/sum"]
    kept = ["card/same", "card/tanh0", "card/tanh1", "card/sum"]
    assert [name for name in made if name.startswith("card")] == kept
    assert isinstance(session.backend, PlacedBackend)
    assert session.backend.transfers.sent == {"gpu": [3, 96]}  # x, once in each run


def test_a_fast_run_leaves_nothing_on_a_device_that_no_step_will_read() -> None:
    document = diamond()
    graph, backend = document.graph, PlacedBackend(NumpyBackend(), {"gpu": card()}, {})
    session = Session(graph, backend, fast=True)
    session.run(["d"], {"x": np.ones((2, 3), np.float32)})
    [recording] = session.recordings
    assert recording.copies is not None
    assert recording.copies.there == 1  # what is fed
    assert backend.transfers.sent == {"gpu": [1, 24]}


def test_a_value_is_sent_once_in_a_run_and_results_come_back() -> None:
    session = session_of(diamond())
    session.command("continue_")
    assert isinstance(session.backend, PlacedBackend)
    moved = session.backend.transfers
    assert moved.sent == {"gpu": [1, 24]}  # x, for both readers
    assert moved.fetched == {"gpu": [3, 72]}
    value = session.frame().value("d:0")
    assert value is not None
    np.testing.assert_allclose(value, -(np.tanh(1) + np.exp(1)) * np.ones((2, 3)), rtol=1e-6)
    session.command("continue_")
    assert moved.sent == {"gpu": [1, 24]}  # it is still fed


def test_step_by_step_gives_the_same() -> None:
    at_once, stepped = session_of(diamond()), session_of(diamond())
    at_once.command("continue_")
    while stepped.stop.reason != "end":
        stepped.command("step")
    for name in "abcd":
        np.testing.assert_array_equal(
            at_once.frame().value(f"{name}:0"), stepped.frame().value(f"{name}:0")
        )


def test_texts_stay_at_home() -> None:
    build = GraphBuilder()
    texts = build.constant(np.array([b"a", b"b"], object), name="x")
    build.one("Identity", texts, name="y")
    document = Document(build.build(), fetches=(TensorRef("y", 0),))
    session = session_of(place(document, ["y"], "gpu"))
    session.command("continue_")
    value = session.frame().value("y:0")
    assert value is not None
    assert value.tolist() == [b"a", b"b"]
    assert isinstance(session.backend, PlacedBackend)
    assert session.backend.transfers.sent == {}


def test_what_fails_there_is_said_at_its_node() -> None:
    build = GraphBuilder()
    x, y = (build.placeholder(name, shape=(None, None)) for name in "xy")
    build.one("MatMul", x, y, name="product")
    document = Document(build.build(), fetches=(TensorRef("product", 0),))
    for name in ("x:0", "y:0"):
        document = document_edits.set_feed(document, name, np.ones((2, 3), np.float32))
    session = session_of(place(document, ["product"], "gpu"))
    session.command("continue_")
    error = session.stop.error
    assert error is not None
    assert error.node == "product"
    assert error.kind != "InternalError"


class LostCard(CupyBackend):
    def adapt(self, definition: OpDef, kernel: Any, op: Operation) -> Any:
        def lost(*inputs: Any) -> Any:
            raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")

        return lost


def test_a_card_that_is_lost_is_said_by_its_name() -> None:
    lost = LostCard(TF_ON_GPU, "gpu", "no card", FakeCupy())
    session = session_of(diamond(), lambda name: lost)
    session.command("continue_")
    error = session.stop.error
    assert error is not None
    assert error.node == "a"
    assert error.message.startswith("gpu failed at")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["while_loop", "rnn"])
def test_what_is_in_loops_goes_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one iteration was sent is not the next's, forward and backward."""
    done = placed_names(monkeypatch)
    program = derive(gradstep_file.load(EXAMPLES / f"{name}.gradstep"), {})
    one, two = (DebugSession(program, backend) for backend in (NumpyBackend(), all_on_card()))
    for session in (one, two):
        session.command("continue_")
    for op in program.graph:
        expected, found = (each.frame().value(f"{op.name}:0") for each in (one, two))
        if expected is not None and expected.dtype.kind in "fiub":
            assert found is not None
            assert_rounded_alike(found, expected, Rounding(terms=1000), op.name)
    inside = [op for op in within(program.graph) if op.name not in program.graph]
    placed = {op.name: op.phase for op in inside if op.name in done}
    assert {*placed.values()} == {Phase.FORWARD, Phase.BACKWARD}


@pytest.mark.slow
@pytest.mark.parametrize("move", ["step_into", "step"])
def test_a_loop_gives_the_same_step_by_step(move: str) -> None:
    document = place(gradstep_file.load(EXAMPLES / "while_loop.gradstep"), ["while"], "gpu")
    at_once, stepped = session_of(document), session_of(document)
    at_once.command("continue_")
    while stepped.stop.reason != "end":
        stepped.command(move)
    for op in at_once.program.graph:
        found = [each.frame().value(f"{op.name}:0") for each in (at_once, stepped)]
        if op.type != "While" and found[0] is not None and found[0].dtype.kind in "fi":
            np.testing.assert_array_equal(*found)


CELL = "rnn/while/basic_rnn_cell/MatMul"


def unrolled(*placed: str) -> Document:
    """An RNN's forward pass, with these operations on the card."""
    document = gradstep_file.load(EXAMPLES / "rnn.gradstep")
    return place(document.with_(request=GradientRequest()), placed, "gpu")


def test_what_all_iterations_read_is_sent_once_a_loop() -> None:
    session = session_of(unrolled(CELL))
    session.command("continue_")
    assert isinstance(session.backend, PlacedBackend)
    moved = session.backend.transfers
    [iterations, _] = moved.fetched["gpu"]
    assert iterations > 2
    assert moved.sent["gpu"][0] == iterations + 1  # what the cell reads in each, and the kernel
    session.command("continue_")
    assert moved.sent["gpu"][0] == 2 * (iterations + 1)


@pytest.mark.slow
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", ["while_loop", "rnn"])
def test_runs_that_keep_no_iteration_are_the_same(name: str, fast: bool) -> None:
    """There an iteration follows the last one without a word to its recording."""
    document = gradstep_file.load(EXAMPLES / f"{name}.gradstep")
    program = derive(document, {})
    inside = [op.name for op in within(document.graph) if op.name not in document.graph]
    able = [each for each in inside if can_be_placed(anywhere(document.graph, each))]
    case = Case(program.graph, program.fetches, program.targets, program.feeds, program.initial)
    assert able
    placed, session = run_placed(case, able, fast)
    assert_same(run(case, fast), placed)
    assert isinstance(session.backend, PlacedBackend)
    assert session.backend.transfers.sent["gpu"][0] > 3 * len(able)


def test_only_a_loop_with_something_placed_leaves_home() -> None:
    session, home = session_of(unrolled(CELL)), session_of(unrolled("square"))
    for each in (session, home):
        each.command("continue_")
    for each, leaves in ((session, True), (home, False)):
        [body] = [step for step in each.plan.steps if step.iteration is not None]
        recording = each.timeline._live.loop(each.plan.step_of[body.op.name]).recording
        assert (recording.copies is not None) is leaves


def test_a_value_given_by_hand_reaches_the_other_device() -> None:
    """Between two steps, a value at home is another one: what lies there is not taken for it."""
    session = session_of(diamond())
    for _ in range(2):  # in the first run, and in one whose feed lies there already
        session.command("run_to", "b")
        session.branches.inject({"x:0": np.full((2, 3), 2, np.float32)})
        session.command("continue_")
        value = session.frame().value("b:0")
        assert value is not None
        np.testing.assert_allclose(value, np.full((2, 3), np.exp(2)), rtol=1e-6)
        session.switch_branch("main")
        session.command("continue_")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rnn", "while_loop", "lstm"])
def test_the_card_is_home_and_the_processor_does_some(name: str) -> None:
    """There sizes and indices lie on the host, whoever is asked to compute them."""
    document = gradstep_file.load(EXAMPLES / f"{name}.gradstep")
    every = [op.name for op in within(document.graph) if can_be_placed(op)]
    placed = place(document, every, "cpu")
    program = derive(placed, {})
    backend = with_placement(card(), placed.graph, lambda _: NumpyBackend())
    one, two = DebugSession(derive(document, {}), NumpyBackend()), DebugSession(program, backend)
    for session in (one, two):
        for _ in range(2):
            session.command("continue_")
            assert session.stop.error is None
    assert isinstance(backend, PlacedBackend)
    assert backend.transfers.sent["cpu"][0] > 0
    for op in program.graph:
        expected, found = (each.frame().value(f"{op.name}:0") for each in (one, two))
        if expected is not None and expected.dtype.kind in "fi":
            assert found is not None
            assert_rounded_alike(found, expected, Rounding(terms=1000), op.name)


def test_without_a_placement_there_is_nothing_of_it() -> None:
    document = place(diamond(), ["a", "b", "c"], "")
    home = NumpyBackend()
    assert with_placement(home, document.graph, card) is home
    theirs = Graph({**document.graph.operations})
    wished = dict.fromkeys("abc", "/device:GPU:0")
    assert with_placement(home, set_devices(theirs, wished), card) is home


def test_the_device_of_the_run_is_no_other() -> None:
    document = place(diamond(), ["a", "b", "c"], "cpu")
    home = NumpyBackend()
    assert with_placement(home, document.graph, card) is home


def test_a_device_that_is_not_there_is_said_at_its_operation() -> None:
    document = place(place(diamond(), ["a", "c"], ""), ["b"], "nowhere")
    with pytest.raises(GradstepError, match="no device 'nowhere'") as failure:
        with_placement(NumpyBackend(), document.graph, Devices().open_backend)
    assert failure.value.node == "b"
    assert "--place b=" in failure.value.hint


def placed_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that another device does from now on."""
    done: list[str] = []
    call = PlacedCall.__call__

    def noted(self: PlacedCall) -> None:
        done.append(self._step.op.name)
        call(self)

    monkeypatch.setattr(PlacedCall, "__call__", noted)
    return done


def test_gradients_go_with_their_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    done = placed_names(monkeypatch)
    document = gradstep_file.load(EXAMPLES / "tutorial.gradstep")
    session = session_of(place(document, ["a"], "gpu"))
    session.command("continue_")
    origins = {session.program.graph[name].origin or name for name in done}
    assert origins == {"a"}
    assert len({*done}) > 1


def test_an_emulated_device_beside_the_cpu_is_no_measurement() -> None:
    document = place(diamond(), ["a", "b", "c"], "emulate:tf-gpu")
    backend = with_placement(NumpyBackend(), document.graph, Devices().open_backend)
    assert not backend.measured
    assert "scatter_functor_gpu" in backend.source
    assert backend == with_placement(NumpyBackend(), document.graph, Devices().open_backend)


@pytest.mark.slow
def test_a_run_gone_back_to_has_its_own_batch() -> None:
    """What a run was fed lies on the card until a run that was fed something else is restored."""
    document = gradstep_file.load(EXAMPLES / "digits_in_batches.gradstep")
    placed = place(document, _placeable(document.graph), "gpu")
    one, two = session_of(document), session_of(placed)
    moves = (
        *["continue_"] * 3,
        *["step_back"] * 6,
        *["step"] * 4,
        "reverse_continue",
        *["step"] * 6,
    )
    for move in moves:
        stops = [session.command(move) for session in (one, two)]
        assert stops[0].step == stops[1].step
        here, there = one.frame(), two.frame()
        for op in one.program.graph:
            expected, found = (each.value(f"{op.name}:0") for each in (here, there))
            if expected is not None and found is not None and expected.dtype.kind == "f":
                assert_rounded_alike(found, expected, Rounding(terms=1000), op.name)
