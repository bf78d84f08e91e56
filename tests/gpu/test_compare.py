"""Documents and GraphDefs on two devices, node by node."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import ComparedNode, Comparison
from gradstep.gpu.compare import compare
from gradstep.gpu.devices import Devices
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend
from tests.support.each_case import each_of
from tests.support.faulty import FaultyBackend

ROOT = Path(__file__).parents[2]
GRAPHS = ROOT / "tests" / "data" / "oracle" / "graphs"


def program(name: str) -> Program:
    return derive(read(ROOT / "assets" / "examples" / name), trusted=True)


def graph_def(name: str, **feeds: np.ndarray) -> Program:
    derived = derive(read(GRAPHS / name))
    return replace(derived, feeds={TensorRef(op): array for op, array in feeds.items()})


def on(ran: Program, right: str) -> Comparison:
    return Devices().compare(ran, "cpu", right)


def nodes(found: Comparison) -> dict[str, ComparedNode]:
    return {node.name: node for node in found.nodes}


# -- gather, the headline ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "expected", "source"),
    [
        ("emulate:tf-gpu", [1, 2, 0], "gather_functor_gpu.cu.h"),
        ("emulate:tf-xla", [1, 2, 5], "xla_out_of_range"),
        ("emulate:cupy", [1, 2, 2], "_routines_indexing.pyx"),
        ("emulate:jax", [1, 2, 5], "JAX"),
        ("emulate:onnxruntime-cuda", [1, 2, 0], "gather_impl.cu"),
    ],
)
def test_gather_out_of_range(device: str, expected: list[int], source: str) -> None:
    found = on(program("gather.gradstep"), device)
    node = nodes(found)["b"]
    assert {"params", "indices", "b"} <= nodes(found).keys()
    assert node.verdict == "raises"
    assert node.left.text == "indices[2] = 6 is not in [0, 5)"
    assert node.right.values == expected
    assert node.rule.startswith(f"{device}: an index out of range ")
    assert source in node.rule
    assert (found.first_divergence, found.measured) == ("b", False)
    assert source in found.source
    assert any("indices[2] = 6" in text and "cupy 2" in text for text in found.hazards)


def test_gather_where_both_sides_refuse_is_no_divergence() -> None:
    found = on(program("gather.gradstep"), "emulate:torch")
    node = nodes(found)["b"]
    assert (node.left.status, node.right.status, node.verdict) == ("raised", "raised", "raises")
    assert node.left.text == node.right.text
    assert found.first_divergence is None
    assert "PyTorch" in node.rule


@pytest.mark.parametrize(("shape", "axis"), [((), 0), ((2,), 1), ((2, 3), -3)])
def test_an_axis_that_is_not_there_is_refused_by_both(shape: tuple[int, ...], axis: int) -> None:
    b = GraphBuilder()
    b.one("Sum", b.placeholder("x"), b.placeholder("axis", "int32"), name="total")
    feeds = {"x": np.ones(shape, np.float32), "axis": np.array(axis, np.int32)}
    fed = {TensorRef(name): array for name, array in feeds.items()}
    ran = Program(b.build(), b.build(), fetches=(TensorRef("total"),), feeds=fed)
    found = on(ran, "emulate:tf-gpu")
    node = nodes(found)["total"]
    assert (node.left.status, node.right.status) == ("raised", "raised")
    assert "Invalid reduction dimension" in node.left.text
    assert found.first_divergence is None


def test_after_a_failure_on_the_left_the_right_side_is_still_shown() -> None:
    found = on(program("gather.gradstep"), "emulate:tf-gpu")
    after = [n for n in found.nodes if n.verdict == "unavailable"]
    assert "gradients/b_grad/UnsortedSegmentSum" in {n.name for n in after}
    for node in after:
        assert node.left.status == "unavailable"
        assert node.right.status == "ok"
        assert node.right.values
        assert node.created is None


def test_scattering_out_of_range_names_the_rule_for_scatters() -> None:
    """The gradient of that gather sums rows by the same indices."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    b.one("UnsortedSegmentSum", x, np.array([0, 7], np.int32), np.array(3, np.int32), name="s")
    ran = Program(
        b.build(),
        b.build(),
        fetches=(TensorRef("s"),),
        feeds={TensorRef("x"): np.ones(2, np.float32)},
    )
    node = nodes(on(ran, "emulate:tf-gpu"))["s"]
    assert node.right.values == [1, 0, 0]
    assert "a segment id out of range is dropped" in node.rule


# -- whole networks ----------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["tutorial.gradstep", "override_add.gradstep"])
def test_a_healthy_network_agrees_everywhere(name: str, profile: str) -> None:
    found = on(program(name), f"emulate:{profile}")
    assert {n.verdict for n in found.nodes} == {"equal"}
    assert found.first_divergence is None
    assert {"data", "labels", "c", "k", "d", "e", "a", "loss"} <= nodes(found).keys()


@pytest.mark.parametrize("name", ["tutorial.gradstep", "override_add.gradstep"])
def test_both_sides_show_what_the_debugger_shows(name: str) -> None:
    ran = program(name)
    session = DebugSession(ran)
    session.continue_()
    frame, found = session.frame(), nodes(on(ran, "emulate:cupy"))
    assert list(session.plan.step_of) == [n for n in found if n in session.plan.step_of]
    seen = 0
    for step in session.plan.steps:
        value = frame.value(step.op.output())
        if value is not None and step.op.phase != "update" and step.op.type != "VariableV2":
            assert found[step.op.name].left.values == value.reshape(-1).tolist()
            seen += 1
    assert seen > 12


def test_updates_show_the_new_values_of_their_variables() -> None:
    found = nodes(on(program("tutorial.gradstep"), "emulate:tf-gpu"))
    assert found["c"].left.values == pytest.approx([0.06, -0.04])
    updated = found["train/update_c/ApplyAdam"]
    assert updated.left.values == pytest.approx([0.05984784, -0.03976078])
    assert updated.phase == "update"
    assert found["train/Assign"].left.values == pytest.approx([0.81])


@pytest.mark.slow
def test_a_graph_of_tensorflows_own_with_an_initializer() -> None:
    ran = graph_def(
        "simple_network_adam.pb",
        data=np.array([1, 2], np.float32),
        labels=np.array([0, 1], np.int32),
    )
    assert ran.init
    found = on(ran, "emulate:tf-gpu")
    assert {n.verdict for n in found.nodes} == {"equal"}
    assert nodes(found)["xent/value"].left.values == pytest.approx([0.66369414])
    assert nodes(found)["c/read"].left.values == pytest.approx([0.06, -0.04])


@pytest.mark.parametrize("name", sorted(path.name for path in GRAPHS.glob("control_deps_*.pb")))
def test_variables_are_read_at_their_place_in_the_order(name: str) -> None:
    """Reads after an update, aliases of a buffer and snapshots, as the debugger sees them."""
    ran = graph_def(name)
    session = DebugSession(ran)
    session.continue_()
    found = nodes(on(ran, "emulate:jax"))
    assert {n.verdict for n in found.values()} == {"equal"}
    for ref in ran.fetches:
        value = session.frame().value(ref)
        assert value is not None
        assert found[ref.op].right.values == value.reshape(-1).tolist()


def test_a_variable_without_a_value_is_refused_on_both_sides() -> None:
    b = GraphBuilder()
    v = b.one("VariableV2", name="v", dtype=DType.FLOAT32, shape=Shape.of(2))
    b.one("Neg", v, name="n")
    found = on(Program(b.build(), b.build(), fetches=(TensorRef("n"),)), "emulate:cupy")
    node = nodes(found)["n"]
    assert node.left.text == node.right.text == "Attempting to use uninitialized value v"
    assert found.first_divergence is None


def test_a_placeholder_that_is_not_fed_is_refused_on_both_sides() -> None:
    found = on(replace(program("tutorial.gradstep"), feeds={}), "emulate:cupy")
    assert "You must feed a value" in nodes(found)["data"].left.text
    assert found.first_divergence is None
    assert nodes(found)["loss"].verdict == "unavailable"
    assert not any(node.differs for node in found.nodes)
    assert "data and labels fail on both alike." in found.text
    assert found.brief.startswith("no node differs")


def test_python_is_no_part_of_the_device() -> None:
    """A function that answers differently each time is not blamed on the GPU's arithmetic."""
    ran = program("override_add.gradstep")
    calls: list[int] = []

    def restless(c: np.ndarray, k: np.ndarray, d: np.ndarray) -> np.ndarray:
        calls.append(1)
        return c + k + np.float32(len(calls))

    found = on(replace(ran, functions={"custom_add": restless}), "emulate:tf-gpu")
    assert nodes(found)["e"].created == 0
    assert found.first_divergence is None
    assert len(calls) == 3  # left, right and the float64 reference


# -- what is not emulated ----------------------------------------------------------------------


def _summed(count: int) -> Program:
    b = GraphBuilder()
    b.one("Sum", b.placeholder("x", shape=(count,)), np.array([0], np.int32), name="sum")
    x = np.random.default_rng(0).random(count, np.float32)
    return Program(b.build(), b.build(), fetches=(TensorRef("sum"),), feeds={TensorRef("x"): x})


def test_a_long_sum_says_that_its_order_is_not_emulated() -> None:
    found = on(_summed(1_000_000), "emulate:tf-gpu")
    node = nodes(found)["sum"]
    assert (node.verdict, node.terms) == ("equal", 1_000_000)
    assert node.unknown == "the order of 1,000,000 terms is not emulated"
    assert found.text.startswith("No node makes a difference by the rules that are emulated.")
    assert "the order of sums in sum (1,000,000 terms)" in found.text


def test_a_sum_of_two_has_no_order_and_a_real_device_has_its_own() -> None:
    assert on(_summed(2), "emulate:tf-gpu").text == "No node makes a difference."
    assert on(_summed(1000), "cpu:native").text == "No node makes a difference."


@each_of(
    ("type_", "inputs", "attrs", "count"),
    [
        ("MatMul", [(2, 7), (7, 3)], {}, 7),
        ("BatchMatMulV2", [(4, 2, 7), (1, 7, 3)], {}, 7),
        ("Mean", [(5, 6), np.array([1], np.int32)], {}, 6),
        ("Prod", [(5, 6), np.array([0, 1], np.int32)], {}, 30),
        ("Cumsum", [(5, 6), np.array(1, np.int32)], {}, 6),
        ("BiasAddGrad", [(5, 6)], {}, 5),
        ("AddN", [(3,)] * 4, {"N": 4}, 4),
        ("L2Loss", [(8,)], {}, 8),
        ("UnsortedSegmentSum", [(5, 2), np.array([0, 1, 0, 0, 1]), np.array(2)], {}, 3),
        ("Conv2D", [(1, 5, 5, 2), (3, 3, 2, 4)], {"strides": (1, 1, 1, 1), "padding": "SAME"}, 18),
    ],
)
def test_the_terms_of_a_sum_are_counted(type_: str, inputs: list, attrs: dict, count: int) -> None:
    rng = np.random.default_rng(1)
    b = GraphBuilder()
    arrays = [
        x.astype(np.int32) if isinstance(x, np.ndarray) else rng.normal(size=x).astype(np.float32)
        for x in inputs
    ]
    b.one(type_, *(b.constant(x) for x in arrays), name="y", **attrs)
    found = on(Program(b.build(), b.build(), fetches=(TensorRef("y"),)), "emulate:jax")
    assert nodes(found)["y"].terms == count


def test_what_only_moves_values_leaves_nothing_open() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(3,))
    b.one("Reverse", b.one("Add", x, x), np.array([True]), name="y")
    values = np.array([1, 2, 3], np.float32)
    ran = Program(b.build(), b.build(), fetches=(TensorRef("y"),), feeds={TensorRef("x"): values})
    assert on(ran, "emulate:jax").text == "No node makes a difference."


# -- rules of arithmetic -----------------------------------------------------------------------


def _product(x: np.ndarray) -> Program:
    b = GraphBuilder()
    y = b.one("MatMul", b.placeholder("x", shape=x.shape), x.T.copy(), name="y")
    b.one("Mul", y, 0.5, name="half")
    return Program(b.build(), b.build(), fetches=(TensorRef("half"),), feeds={TensorRef("x"): x})


def test_tf32_is_named_and_is_close() -> None:
    x = np.random.default_rng(3).normal(size=(8, 64)).astype(np.float32)
    found = on(_product(x), "emulate:tf-gpu")
    node = nodes(found)["y"]
    assert node.verdict == "close"
    assert "TF32" in node.rule
    assert "enable_tensor_float_32_execution" in node.rule
    assert node.created is not None
    assert 1e-5 < node.created < 1e-3
    assert node.metrics["error_left"] < 1e-6 < node.metrics["error_right"]
    half = nodes(found)["half"]
    assert (half.created, half.rule) == (0, "")
    assert half.inherited == pytest.approx(node.created, rel=1e-3)
    assert (half.verdict, half.differs, half.creates) == ("differs", True, False)
    assert found.first_divergence is None
    assert found.text.startswith("Rounding: factors are rounded to TF32, 10 bits of fraction (y ")
    assert "That explains the node that differs" in found.text
    assert "half is off by " in found.sentences[2]
    assert "No node" not in found.text


def test_flushed_subnormals_are_named_and_close() -> None:
    """In what passes them on, too."""
    b = GraphBuilder()
    y = b.one("Mul", b.placeholder("x", shape=(2,)), 0.5, name="y")
    b.one("Neg", y, name="z")
    ran = Program(
        b.build(),
        b.build(),
        fetches=(TensorRef("z"),),
        feeds={TensorRef("x"): np.array([1e-40, 1], np.float32)},
    )
    found = on(ran, "emulate:cupy")
    node = nodes(found)["y"]
    assert (node.verdict, node.right.values) == ("close", [0, 0.5])
    assert "-ftz=true" in node.rule
    after = nodes(found)["z"]
    assert (after.verdict, after.creates, after.right.values) == ("close", False, [0, -0.5])
    assert any("1 subnormal input" in text for text in found.hazards)


class Full(NumpyBackend):
    """A device without room for what is larger than a scalar."""

    def put(self, array: np.ndarray) -> Any:
        if array.size > 1:
            raise MemoryError("out of memory")
        return super().put(array)


@pytest.mark.parametrize("larger", ["x", "v"])
def test_what_a_device_cannot_hold_at_the_start_is_named(larger: str) -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,) if larger == "x" else ())
    v = b.one("VariableV2", dtype=DType.FLOAT32, shape=Shape.of(*([2] * (larger == "v"))), name="v")
    b.one("Add", x, v, name="y")
    feeds = {TensorRef("x"): np.ones((2,) if larger == "x" else (), np.float32)}
    initial = {"v": np.ones(2 if larger == "v" else (), np.float32)}
    graph = b.build()
    ran = Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds, initial=initial)
    with pytest.raises(GradstepError) as raised:
        compare(ran, NumpyBackend(), Full())
    assert raised.value.node == larger


# -- the record --------------------------------------------------------------------------------


def test_a_comparison_is_json_whatever_its_values_are() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(4,))
    b.one("Log", x, name="y")
    values = np.array([-1, 0, np.inf, 1], np.float32)
    ran = Program(b.build(), b.build(), fetches=(TensorRef("y"),), feeds={TensorRef("x"): values})
    right = FaultyBackend({"Log": lambda x: np.where(np.isnan(x), np.float32(0), x)})
    found = json.loads(msgspec.json.encode(compare(ran, NumpyBackend(), right)))
    node = found["nodes"][-1]
    assert node["left"]["values"] == ["NaN", "-Infinity", "Infinity", 0.0]
    assert node["metrics"]["nan_mismatches"] == 1
    assert found["first_divergence"] == "y"


def test_text_that_differs_is_shown_without_measures() -> None:
    """A summary of numbers that differ: what made them is to blame, not the summary."""
    b = GraphBuilder()
    x = b.constant(np.arange(3, dtype=np.float32))
    tag = b.constant(np.array("y", object))
    b.one("HistogramSummary", tag, b.one("Exp", x, name="y"), name="summary")
    ran = Program(b.build(), b.build(), fetches=(TensorRef("summary"),))
    found = compare(ran, NumpyBackend(), FaultyBackend({"Exp": lambda x: x * 2}))
    node = nodes(found)["summary"]
    assert (node.verdict, node.metrics, node.right.text) == ("differs", {}, "")
    assert node.left.values != node.right.values
    assert found.first_divergence == "y"


def test_only_the_first_elements_of_a_large_tensor_are_carried() -> None:
    x = np.random.default_rng(5).normal(size=(300, 300)).astype(np.float32)
    ran = _product(x)
    node = nodes(compare(ran, NumpyBackend(), EmulatedBackend(PROFILES["jax"])))["y"]
    assert node.left.shape == [300, 300]
    assert len(node.left.values) == len(node.right.values) == 64


@each_of("device", sorted(PROFILES))
@each_of(
    ("type_", "expected"),  # of 1, NaN and 3
    [
        ("Cast", {"torch": None, "onnxruntime": None, "": [1, 0, 3]}),
        ("ArgMax", {"jax": [1], "torch": [1], "cupy": [1], "": None}),
    ],
)
def test_a_difference_that_only_nan_makes(type_: str, expected: dict, device: str) -> None:
    """None: as in TensorFlow on a CPU."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(3,))
    if type_ == "Cast":
        b.one("Cast", x, name="y", DstT=DType.INT32)
    else:
        b.one("ArgMax", x, 0, name="y")
    feeds = {TensorRef("x"): np.array([1, np.nan, 3], np.float32)}
    ran = Program(b.build(), b.build(), fetches=(TensorRef("y"),), feeds=feeds)
    found = on(ran, f"emulate:{device}")
    wanted = expected.get(device, expected[""])
    node = nodes(found)["y"]
    assert (found.first_divergence == "y") == (wanted is not None)
    if wanted is not None:
        assert node.right.values == wanted
        assert node.rule.startswith(f"emulate:{device}: ")
        assert "NaN" in node.rule


# -- corners that nobody knows -----------------------------------------------------------------


def _greatest() -> Program:
    b = GraphBuilder()
    b.one("ArgMax", b.placeholder("x", shape=(3,)), np.array(0, np.int32), name="y")
    x = np.array([1, np.nan, 3], np.float32)
    return Program(b.build(), b.build(), fetches=(TensorRef("y"),), feeds={TensorRef("x"): x})


def test_where_nobody_knows_no_difference_is_claimed() -> None:
    found = on(_greatest(), "emulate:tf-gpu")
    node = nodes(found)["y"]
    assert node.unmeasured == "what tf-gpu does with NaN is not known"
    assert node.unknown == node.unmeasured
    assert found.brief == "no node differs (1 emulated in part)"
    assert found.text == (
        "No node makes a difference by the rules that are known. What tf-gpu does with NaN is not "
        "known (in y): there the result may be another."
    )


def test_where_it_was_measured_nothing_is_open() -> None:
    found = on(_greatest(), "emulate:tf-xla")
    assert nodes(found)["y"].unmeasured == ""
    assert found.text == "No node makes a difference."
    assert on(_greatest(), "emulate:jax").first_divergence == "y"


@each_of(
    ("type_", "inputs", "device", "words"),
    [
        ("FloorDiv", ([1, 0], [0, 0]), "jax", "an integer over 0 is -2, but 0 over 0 is -1"),
        ("FloorDiv", ([1, 0], [0, 0]), "cupy", "an integer over 0 is 0, and so is what remains"),
        ("FloorMod", ([1, 0], [0, 0]), "tf-xla", "and itself remains"),
        ("LeftShift", ([1, 1], [32, 1]), "torch", "a shift beyond the width leaves 0"),
        ("FloorDiv", ([6.0, 1], [0.1, 1]), "torch", "x // y is found by way of the remainder"),
        ("FloorMod", ([-1.0], [np.inf]), "cupy", "x % y is x - floor(x / y) · y"),
        ("Maximum", ([1.0], [np.nan]), "tf-xla", "NaN is passed over"),
        ("Sign", ([np.nan],), "torch", "the sign of NaN is 0"),
    ],
)
def test_a_difference_names_its_rule_and_where_it_was_recorded(
    type_: str, inputs: tuple[list[float], ...], device: str, words: str
) -> None:
    b, feeds, given = GraphBuilder(), {}, []
    whole = all(isinstance(x, int) for row in inputs for x in row)
    for index, values in enumerate(inputs):
        array = np.array(values, np.int32 if whole else np.float32)
        kind = DType.INT32 if whole else DType.FLOAT32
        given.append(b.placeholder(f"x{index}", kind, array.shape))
        feeds[TensorRef(f"x{index}")] = array
    b.one(type_, *given, name="y")
    ran = Program(b.build(), b.build(), fetches=(TensorRef("y"),), feeds=feeds)
    found = on(ran, f"emulate:{device}")
    node = nodes(found)["y"]
    assert (node.kind, node.creates) == ("semantics", True)
    assert words in node.because
    assert "tests/data/devices" in node.rule or "H200" in node.rule
    assert found.text.startswith("Semantics, not rounding. First divergence: y ")


# -- past a failure ----------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True])
def test_past_a_failure_the_other_sides_value_is_taken(turned: bool) -> None:
    sides = ("emulate:tf-gpu", "cpu") if turned else ("cpu", "emulate:tf-gpu")
    found = Devices().compare(program("gather.gradstep"), *sides, go_on=True)
    rows = nodes(found)
    assert rows["b"].verdict == "raises"
    assert found.first_divergence == "b"
    after = rows["gradients/b_grad/UnsortedSegmentSum"]
    failing = after.right if turned else after.left
    assert failing.status == "raised"  # the indices are out of range there, too
    assert rows["gradients/grad_ys_0"].verdict == "equal"
    assert not any(row.verdict == "unavailable" for row in found.nodes)
    assert "cpu goes on with what tf-gpu gave." in found.text
    assert "cannot be compared" not in found.text


def test_without_asking_nothing_goes_on() -> None:
    found = on(program("gather.gradstep"), "emulate:tf-gpu")
    assert "goes on" not in found.text
    assert any(row.verdict == "unavailable" for row in found.nodes)
