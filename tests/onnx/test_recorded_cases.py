"""Cases of ONNX's own node suite: what it says of each operator holds here, without ONNX."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.lowering.onnx import ONNX
from tests.onnx.left_out import FEW_BITS, SEQUENCES, TEXTS, why_left_out
from tests.onnx.node_cases import Case, judge, recorded
from tests.support import onnx_models as onnx
from tests.support.each_case import each_of

FAMILIES = 8  # in as many tests as this all cases are tried


def _cases() -> dict[str, Case]:
    return {name: Case.of_bytes(name, data) for name, data in recorded().items()}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(FAMILIES))
def test_the_recorded_cases_pass(part: int) -> None:
    names = sorted(recorded())[part::FAMILIES]
    cases = [Case.of_bytes(name, recorded()[name]) for name in names]
    problems = {case.name: verdict.problem for case in cases if (verdict := judge(case)).problem}
    assert not problems
    assert len(cases) > 40


# What is done with the first axis, and is not told before.
CROPPED = {
    "test_center_crop_pad_crop_axes_hwc", "test_center_crop_pad_crop_expanded",
    "test_center_crop_pad_pad_expanded",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", range(FAMILIES))
def test_the_first_size_of_what_goes_in_may_be_any(part: int) -> None:
    names = sorted({*recorded()} - CROPPED)[part::FAMILIES]
    cases = [found for name in names if (found := _with_any_batch(name)) is not None]
    problems = {case.name: verdict.problem for case in cases if (verdict := judge(case)).problem}
    assert not problems
    assert len(cases) > 20


def _with_any_batch(name: str) -> Case | None:
    """None for a case whose first input has no two axes."""
    case = Case.of_bytes(name, recorded()[name])
    model = onnx.message("ModelProto")()
    model.CopyFrom(case.model)
    first = [one.type.tensor_type for one in model.graph.input[:1]]
    if not first or len(first[0].shape.dim) < 2:
        return None
    first[0].shape.dim[0].dim_param = "N"
    for told in (*model.graph.output, *model.graph.value_info):
        told.type.tensor_type.ClearField("shape")
    data = np.frombuffer(model.SerializeToString(), np.uint8)
    return Case(name, {**case.arrays, "model": data})


@pytest.mark.slow
def test_most_operators_are_among_them() -> None:
    """Those without a case there: random numbers, and what no case of the suite is small enough
    for."""
    met = {node.op_type for case in _cases().values() for node in case.model.graph.node}
    lowered = {name for name, _ in ONNX}
    assert lowered - met <= {
        "Bernoulli", "GlobalLpPool", "RandomNormal", "RandomNormalLike", "RandomUniform",
        "RandomUniformLike", "Mish",
    }  # fmt: skip


def _case(model: bytes, x: np.ndarray, y: np.ndarray) -> Case:
    arrays = {
        "model": np.frombuffer(model, np.uint8),
        "tolerance": np.array([1e-3, 1e-7]),
        "0_in_0": x,
        "0_out_0": y,
    }
    return Case("made", arrays)


def test_a_case_that_is_off_is_told() -> None:
    x = np.float32([1, -2])
    made = onnx.graph([onnx.node("Neg", "x", "y")], {"x": ("float32", [2])}, {})
    made.output.add(name="y")
    model = onnx.model(made)
    assert not judge(_case(model, x, -x)).problem
    assert "off by up to 1" in judge(_case(model, x, -x + np.float32([0, 1]))).problem
    assert "float32[2], and not float64[2]" in judge(_case(model, x, -x.astype(float))).problem
    assert "float32[2], and not float32[1, 2]" in judge(_case(model, x, -x[None])).problem


def test_an_operator_that_there_is_not_is_told() -> None:
    case = _case(onnx.one_node("Frobnicate", {"x": np.zeros(2)}), np.zeros(2), np.zeros(2))
    assert "there is no lowering of onnx.Frobnicate" in judge(case).problem


@each_of(
    ("model", "reason"),
    [
        (onnx.one_node("Neg", {"x": np.zeros(2)}), ""),
        (onnx.one_node("Cast", {"x": np.zeros(2)}, to=1), ""),
        (onnx.one_node("Cast", {"x": np.zeros(2)}, to=22), FEW_BITS),
        (onnx.one_node("SequenceConstruct", {"x": np.zeros(2)}), SEQUENCES),
        (onnx.one_node("StringNormalizer", {"x": np.zeros(2)}), TEXTS),
        (onnx.one_node("ReverseSequence", {"x": np.zeros(2)}), ""),
    ],
)
def test_what_is_left_out_is_told_by_what_is_in_it(model: bytes, reason: str) -> None:
    assert why_left_out(_case(model, np.zeros(2), np.zeros(2))) == reason
