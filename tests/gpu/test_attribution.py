"""Which operation makes a difference, and which ones only pass it on."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.protocol.messages import ComparedNode, Comparison
from gradstep.gpu.compare import compare
from gradstep.gpu.emulated_systems import PROFILES
from tests.support.faulty import Fault, FaultyBackend

X = np.array([0.5, -1.25, 2.0], np.float32)
ORDER = ("Mul", "Tanh", "Neg", "Sub", "Sum")  # as they stand in the chain


def chain() -> Program:
    """x -> Mul -> Tanh -> Neg -> Sub -> Sum."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(3,))
    y = b.one("Mul", x, 0.75, name="mul")
    y = b.one("Tanh", y, name="tanh")
    y = b.one("Neg", y, name="neg")
    y = b.one("Sub", y, x, name="sub")
    b.one("Sum", y, np.array([0], np.int32), name="sum")
    return Program(b.build(), b.build(), fetches=(TensorRef("sum"),), feeds={TensorRef("x"): X})


def against(faults: Mapping[str, Fault]) -> Comparison:
    return compare(chain(), NumpyBackend(), FaultyBackend(faults))


def nodes(found: Comparison) -> dict[str, ComparedNode]:
    return {node.name: node for node in found.nodes}


def off(by: float) -> Fault:
    return lambda x: (x * (1 + by)).astype(x.dtype)


def test_without_a_fault_nothing_differs() -> None:
    found = against({})
    assert found.first_divergence is None
    assert {n.verdict for n in found.nodes} == {"equal"}
    assert {n.created for n in found.nodes} == {0.0}


@given(st.sampled_from(ORDER), st.floats(2e-3, 0.5))
def test_the_faulty_operation_creates_and_what_follows_inherits(type_: str, by: float) -> None:
    found = against({type_: off(by)})
    assert found.first_divergence == type_.lower()
    before = True
    for node in found.nodes:
        if node.type == type_:
            before = False
            assert node.created == pytest.approx(by, rel=1e-3)
            assert node.inherited == 0
            assert node.verdict == "differs"
        else:
            assert node.created == 0
            assert (node.verdict == "equal") == (before or node.type == "Const")
            if node.verdict != "equal":
                assert node.inherited is not None
                assert node.inherited > 0


def test_of_several_that_part_the_devices_the_first_is_the_divergence() -> None:
    found = against({"Sub": off(0.1), "Tanh": off(0.1), "Sum": off(0.1)})
    assert [node.name for node in found.nodes if node.creates] == ["tanh", "sub", "sum"]
    assert found.first_divergence == "tanh"


def test_amplification_is_the_error_out_over_the_error_in() -> None:
    found = nodes(against({"Mul": off(1e-2)}))
    assert found["tanh"].metrics["amplification"] < 1  # tanh flattens
    assert found["neg"].metrics["amplification"] == pytest.approx(1)
    assert found["sub"].inherited == pytest.approx(
        found["sub"].metrics["amplification"] * found["neg"].inherited
    )
    assert "amplification" not in found["mul"].metrics


@pytest.mark.parametrize("profile", ["tf-cpu", "cupy", "tf-gpu"])
def test_what_no_rule_explains_is_laid_to_none(profile: str) -> None:
    """A product, under rules without TF32, is no matter of TF32; nor are normal numbers one of
    subnormals."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2, 2))
    b.one("Mul", b.one("MatMul", x, x, name="product"), 0.5, name="half")
    feeds = {TensorRef("x"): np.eye(2, dtype=np.float32)}
    program = Program(b.build(), b.build(), fetches=(TensorRef("half"),), feeds=feeds)
    rules = {**PROFILES, "tf-cpu": TF_CPU}[profile]
    faulty = FaultyBackend({"MatMul": off(0.1), "Mul": off(0.1)}, rules)
    found = nodes(compare(program, NumpyBackend(), faulty))
    assert found["product"].creates
    assert found["half"].creates
    assert ("TF32" in found["product"].rule) == rules.tf32
    assert found["half"].rule == ""


@pytest.mark.slow
def test_a_comparison_holds_only_what_is_still_read() -> None:
    b = GraphBuilder()
    y = b.placeholder("x", shape=(50_000,))
    for number in range(60):
        y = b.one("Neg", y, name=f"n{number}")
    feeds = {TensorRef("x"): np.ones(50_000, np.float32)}
    program = Program(b.build(), b.build(), fetches=(y.ref,), feeds=feeds)
    tracemalloc.start()
    try:
        compare(program, NumpyBackend(), NumpyBackend())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60 * 50_000 * 4, "not even one value of each node on one device"


def test_errors_against_float64_belong_to_the_faulty_side() -> None:
    node = nodes(against({"Tanh": off(1e-2)}))["tanh"]
    assert node.metrics["error_left"] < 1e-6
    assert node.metrics["error_right"] == pytest.approx(1e-2, rel=1e-3)


def test_a_rounding_of_a_library_function_is_close_and_no_divergence() -> None:
    found = against({"Tanh": lambda x: np.nextafter(x, np.float32(9))})
    assert found.first_divergence is None
    verdicts = {name: node.verdict for name, node in nodes(found).items()}
    assert verdicts["tanh"] == "close"
    assert verdicts["neg"] == "close"  # inherited, by an op that must be exact by itself
    assert verdicts["mul"] == "equal"


def test_a_rounding_of_a_correctly_rounded_operation_is_a_divergence() -> None:
    assert against({"Mul": lambda x: np.nextafter(x, np.float32(9))}).first_divergence == "mul"


@given(st.sets(st.sampled_from(ORDER), min_size=2))
def test_of_several_that_part_the_devices_the_first_is_named(types: set[str]) -> None:
    found = against({type_: off(0.1) for type_ in types})
    first = next(type_ for type_ in ORDER if type_ in types)
    assert {node.name for node in found.nodes if node.creates} == {t.lower() for t in types}
    assert found.first_divergence == first.lower()
    more = f" and {len(types) - 1} more"
    assert f"First divergence: {first.lower()} ({first}){more}: " in found.text


def test_nan_on_one_side_only_is_a_divergence() -> None:
    found = against({"Tanh": lambda x: np.where(x > 0.9, np.float32("nan"), x)})
    node = nodes(found)["tanh"]
    assert found.first_divergence == "tanh"
    assert (node.verdict, node.created) == ("differs", 1.0)
    assert node.right.values[2] == "NaN"
    assert node.right.text == "most at index [2]"


def _fails(x: np.ndarray) -> np.ndarray:
    raise GradstepError("the device is on fire", kind="InternalError")


def test_a_failure_on_the_right_only_is_a_divergence() -> None:
    found = against({"Neg": _fails})
    node = nodes(found)["neg"]
    assert found.first_divergence == "neg"
    assert (node.verdict, node.left.status, node.right.status) == ("raises", "ok", "raised")
    assert node.right.text == "the device is on fire"
    after = nodes(found)["sum"]
    assert (after.verdict, after.left.status, after.right.status) == (
        "unavailable",
        "ok",
        "unavailable",
    )
    assert after.left.values


def test_the_same_failure_on_both_sides_is_no_divergence() -> None:
    found = compare(chain(), FaultyBackend({"Neg": _fails}), FaultyBackend({"Neg": _fails}))
    assert found.first_divergence is None
    assert nodes(found)["neg"].verdict == "raises"
    assert found.brief == "no node differs (2 not compared)"
    assert found.text == (
        "No node that is compared makes a difference. Of what was asked for, sum cannot be "
        "compared. neg fails on both alike. "
        "2 nodes are not compared: an input is not available."
    )


def test_another_failure_on_the_right_is_a_divergence() -> None:
    def fails_otherwise(x: np.ndarray) -> np.ndarray:
        raise GradstepError("out of memory", kind="ResourceExhaustedError")

    found = compare(
        chain(), FaultyBackend({"Neg": _fails}), FaultyBackend({"Neg": fails_otherwise})
    )
    assert found.first_divergence == "neg"


@given(st.lists(st.floats(0.5, 9), min_size=2, max_size=4), st.integers(0, 3))
def test_what_inherits_one_bit_is_close(values: list[float], at: int) -> None:
    """Also where the others are larger, so that it is less than half a bit of theirs."""
    b = GraphBuilder()
    x = b.placeholder("x", "float64", shape=(len(values),))
    b.one("Neg", b.one("Exp", x, name="exp"), name="neg")
    feeds = {TensorRef("x"): np.array(values)}
    ran = Program(b.build(), b.build(), fetches=(TensorRef("neg"),), feeds=feeds)

    def off_by_one_bit(y: np.ndarray) -> np.ndarray:
        moved = y.copy()
        moved[at % len(y)] = np.nextafter(y[at % len(y)], np.inf)
        return moved

    found = compare(ran, NumpyBackend(), FaultyBackend({"Exp": off_by_one_bit}))
    assert {n.name: n.verdict for n in found.nodes} == {
        "x": "equal",
        "exp": "close",
        "neg": "close",
    }
    assert all(nodes(found)[name].metrics["rel_l2"] > 0 for name in ("exp", "neg"))
    assert not found.brief.endswith("differ")


def test_complex_sums_are_scaled_by_the_magnitudes_of_their_terms() -> None:
    b = GraphBuilder()
    b.one("Sum", b.placeholder("x", "complex64", (3, 2)), np.array([0], np.int32), name="sum")
    feeds = {TensorRef("x"): np.full((3, 2), 3 + 4j, np.complex64)}
    ran = Program(b.build(), b.build(), fetches=(TensorRef("sum"),), feeds=feeds)
    by = 2 * np.finfo(np.float32).eps
    right = FaultyBackend({"Sum": lambda y: (y + np.complex64(1j) * 15 * by).astype(y.dtype)})
    node = nodes(compare(ran, NumpyBackend(), right))["sum"]
    assert node.verdict == "close"
    assert node.metrics["scaled"] == pytest.approx(2, rel=0.3)


def test_the_output_that_differs_is_the_one_shown() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(3,))
    b.op("SoftmaxCrossEntropyWithLogits", x, x, name="loss")
    ran = Program(
        b.build(),
        b.build(),
        fetches=(TensorRef("loss", 0), TensorRef("loss", 1)),
        feeds={TensorRef("x"): np.array([0.2, 0.3, 0.5], np.float32)},
    )
    second = FaultyBackend(
        {"SoftmaxCrossEntropyWithLogits": lambda x: x * x.dtype.type(1 + x.ndim)}
    )
    node = nodes(compare(ran, NumpyBackend(), second))["loss"]
    assert node.verdict == "differs"
    assert node.left.shape == node.right.shape == [3]
    assert node.right.text.startswith("output 1, most at index ")


def test_a_sum_in_another_order_is_close_even_where_it_cancels() -> None:
    b = GraphBuilder()
    b.one("Sum", b.placeholder("x", shape=(4,)), np.array([0], np.int32), name="sum")
    values = np.array([1e8, 1, -1e8, 1], np.float32)
    ran = Program(b.build(), b.build(), fetches=(TensorRef("sum"),), feeds={TensorRef("x"): values})
    reordered = FaultyBackend({"Sum": lambda x: np.float32(2) + 0 * x})
    node = nodes(compare(ran, NumpyBackend(), reordered))["sum"]
    assert node.left.values != node.right.values
    assert node.metrics["rel_l2"] >= 0.5
    assert node.metrics["scaled"] < 1
    assert node.verdict == "close"


def test_the_share_of_the_tolerance_is_by_the_measure_that_takes_less() -> None:
    """What cancels in a sum leaves a relative error that means nothing: its magnitudes count."""
    b = GraphBuilder()
    b.one("Sum", b.placeholder("x", shape=(3,)), np.array([0], np.int32), name="sum")
    x = np.array([1e6, -1e6, 1e-3], np.float32)
    program = Program(b.build(), b.build(), fetches=(TensorRef("sum"),), feeds={TensorRef("x"): x})
    faulty = FaultyBackend({"Sum": lambda y: y + np.float32(0.03)})
    row = nodes(compare(program, NumpyBackend(), faulty))["sum"]
    assert row.verdict == "close"
    assert row.metrics["rel_l2"] > 1
    assert 0 < row.metrics["share"] < 1
