"""Each hazard is found in tensors that have it, and in no others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import OpDef, all_ops
from gradstep.gpu.corner_cases import corners_of
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend
from gradstep.gpu.hazards import hazards
from tests.support.each_case import each_of, on_each_op


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def i32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def found(type_: str, *inputs: np.ndarray | None, attrs: Mapping[str, Any] | None = None) -> str:
    refs = tuple(TensorRef(f"x{i}") for i in range(len(inputs)))
    sentences = hazards(Operation("op", type_, refs, attrs=attrs or {}), inputs)
    assert all(sentence.startswith("op: ") for sentence in sentences)
    return "\n".join(sentences)


ZERO = np.array(0, np.int32)
TO_INT = {"DstT": DType.INT32}


@each_of(
    ("type_", "inputs", "attrs", "expected"),
    [
        ("GatherV2", (f32(10, 20, 30), i32(0, 3), ZERO), {}, "indices[1] = 3 is not in [0, 3)"),
        ("GatherNd", (f32(10, 20, 30), i32([1], [-1])), {}, "indices[1] = [-1] does not index"),
        ("ScatterNd", (i32([3]), f32(1), i32(3)), {}, "does not index into shape"),
        ("UnsortedSegmentSum", (f32(1), i32(2), i32(2)[0]), {}, "out of range"),
        ("UnsortedSegmentSum", (f32(1, 2, 3), i32(0, 1, 0), i32(2)[0]), {}, "1 of 3 rows"),
        ("ScatterNd", (i32([0], [0], [0]), f32(1, 2, 3), i32(3)), {}, "2 of 3 rows"),
        ("Mul", (f32(1e-40, 1), f32(-1e-40, 1)), {}, "2 subnormal inputs"),
        ("Exp", (f32(1e-40),), {}, "1 subnormal input:"),
        ("Cast", (f32(1, 3e9, np.nan, -np.inf),), TO_INT, "3 values do not fit int32"),
        ("Cast", (f32(2.0**31),), TO_INT, "1 value does not fit int32"),
        ("Cast", (f32(-1),), {"DstT": DType.UINT8}, "1 value does not fit uint8"),
        ("FloorDiv", (i32(1, 2), i32(0, 1)), {}, "Integer division by zero; the result"),
        ("FloorMod", (i32(1), i32(0)), {}, "Integer division by zero; the result"),
        ("ArgMax", (f32(1, 2, 2), ZERO), {}, "1 of 1 maxima are tied; which wins is not known of"),
        ("UnsortedSegmentSum", (f32(1, 2), i32(1, -1), i32(2)[0]), {}, "torch fails; not known of"),
        ("LeftShift", (i32(1, 1), i32(3, 32)), {}, "the result at [1]: cpu -2147483648, tf-xla 0"),
        ("Max", (f32(1, np.nan, 3), ZERO), {}, "1 × NaN; the result: cpu nan, tf-xla 3"),
        ("Sign", (f32(np.nan),), {}, "nan; not known of tf-gpu, onnxruntime-cuda"),
        ("FloorDiv", (f32(6), f32(0.1)), {}, "cpu 60, tf-xla 60, cupy 60, jax 59, torch 59"),
        ("Max", (f32(), ZERO), {}, "tf-xla -inf, cupy fails, jax fails, torch fails"),
        ("TensorScatterAdd", (f32(0, 0), i32([1], [1]), f32(1, 2)), {}, "1 of 2 rows go to"),
    ],
)
def test_a_hazard_is_found(type_: str, inputs: tuple, attrs: dict, expected: str) -> None:
    assert expected in found(type_, *inputs, attrs=attrs)


@each_of(
    ("type_", "inputs", "attrs"),
    [
        ("GatherV2", (f32(10, 20, 30), i32(0, 2), ZERO), {}),
        ("GatherNd", (f32(10, 20, 30), i32([1], [0])), {}),
        ("ScatterNd", (i32([2], [0]), f32(1, 2), i32(3)), {}),
        ("UnsortedSegmentSum", (i32(1, 2), i32(1, 1), i32(2)[0]), {}),  # integers add exactly
        ("Mul", (f32(0, 1), f32(-0.0, np.nan)), {}),
        ("Mul", (np.array([1e-40]), np.array([1e-310])), {}),  # float64 is never flushed
        ("Identity", (f32(1e-40),), {}),
        ("Cast", (f32(2147483520, -(2.0**31), -0.9),), TO_INT),
        ("Cast", (f32(3e9, np.nan),), {"DstT": DType.FLOAT64}),
        ("Cast", (i32(-1),), {"DstT": DType.UINT8}),
        ("FloorDiv", (i32(0, 2), i32(3, 1)), {}),
        ("FloorDiv", (f32(1), f32(0)), {}),
        ("ArgMax", (f32(1, 2, 3), ZERO), {}),
        ("Add", (None, f32(1e-40)), {}),  # an input that is not there
        ("NoSuchOperation", (f32(1e-40),), {}),
        ("Mul", (f32(np.finfo(np.float32).tiny), f32(1)), {}),  # the smallest normal number
    ],
)
def test_nothing_is_said_without_a_reason(type_: str, inputs: tuple, attrs: dict) -> None:
    assert found(type_, *inputs, attrs=attrs) == ""


ARITHMETIC = {"subnormals", "tf32"}  # corners of very many, that have nothing to do with shapes
BY_SHAPE = [
    d for d in all_ops()
    if d.samples is not None
    and not d.state.writes
    and {c.name for c in corners_of(d.type)} - ARITHMETIC
]  # fmt: skip


def misfits(x: np.ndarray) -> Iterator[np.ndarray]:
    """What may come in place of an input, and need not fit."""
    yield np.zeros(0, x.dtype)
    yield x[None]
    if x.size:
        yield np.asarray(x.reshape(-1)[0])
    if x.dtype.kind in "iu":
        yield np.asarray(x + 7)  # of rank 0 it is no array
        yield np.asarray(x - 9)


@on_each_op(BY_SHAPE)
def test_of_inputs_that_do_not_fit_nothing_need_be_said(definition: OpDef) -> None:
    """But that is no reason to fail: a comparison shows that both refuse them."""
    assert definition.samples is not None
    for sample in definition.samples(np.random.default_rng(0)):
        inputs = [np.asarray(x) for x in sample.inputs]
        for place, x in enumerate(inputs):
            for other in misfits(x):
                given_ = [*inputs[:place], other, *inputs[place + 1 :]]
                found(definition.type, *given_, attrs=sample.attrs)


def test_what_every_system_makes_of_an_index_is_said_in_values() -> None:
    said = found("GatherV2", f32(10, 20, 30), i32(0, 3), ZERO)
    for outcome in (
        "the result at [1]: ",
        "tf-gpu 0",
        "tf-xla 30",
        "cupy 10",
        "jax 30",
        "torch fails",
    ):
        assert outcome in said


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.integers(1, 5), st.booleans())
def test_an_index_is_a_hazard_exactly_when_it_is_out_of_range(
    indices: list[int], size: int, nested: bool
) -> None:
    at = np.array(indices, np.int32)
    rows = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
    said = found("GatherV2", rows, at[None] if nested else at, ZERO)
    assert (said != "") == any(not 0 <= i < size for i in indices)


ASKED = st.sampled_from(
    ("FloorDiv", "FloorMod", "LeftShift", "RightShift", "Maximum", "Minimum", "GatherV2", "Sign")
)


@given(ASKED, st.lists(st.integers(-40, 40), min_size=2, max_size=6), st.booleans())
def test_a_hazard_says_what_the_columns_show(type_: str, numbers: list[int], floats: bool) -> None:
    """Whatever is said of a system, its column of a comparison shows."""
    one = i32(*numbers)
    if type_ in ("Maximum", "Minimum", "Sign") or (floats and type_ == "FloorDiv"):
        one = np.where(one % 3 == 0, np.nan, one).astype(np.float32)
    other = one[::-1] if type_ != "GatherV2" else i32(*numbers)
    inputs = {"Sign": (one,), "GatherV2": (f32(*range(9)), other, ZERO)}.get(type_, (one, other))
    said = found(type_, *inputs)
    place = re.search(r"the result at \[(\d+)\]: ", said)
    if place is None:
        return
    row = Operation("op", type_, tuple(TensorRef(f"x{i}") for i, _ in enumerate(inputs)))
    for name, text in re.findall(
        r"(tf-gpu|tf-xla|cupy|jax|torch|onnxruntime-cuda|onnxruntime) ([^,;]+)", said
    ):
        if name in said.partition("not known of")[2]:
            continue
        try:
            shown = run_op(EmulatedBackend(PROFILES[name]), row, inputs)[0][int(place.group(1))]
            assert text == (f"{shown:.6g}" if isinstance(shown, np.floating) else str(shown))
        except GradstepError:
            assert text == "fails"
