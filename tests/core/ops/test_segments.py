"""Rows scattered, summed by segments, dealt out and stitched, as TensorFlow 2.21 does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.autodiff.differentiate import differentiate
from core.autodiff.request import GradientRequest
from core.engine.numpy_backend import NumpyBackend
from core.engine.session import Session
from core.errors import GradstepError
from core.graph.dtypes import UNKNOWN, DType
from core.ops import rows
from core.ops.builder import GraphBuilder
from core.ops.rules import OutOfRange, Rules
from tests.support import fake_xp, oracle

NAN, INF = np.nan, np.inf
LOWEST, HIGHEST = np.finfo(np.float32).min, np.finfo(np.float32).max


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def counted(*shape: int) -> np.ndarray:
    """1, 2, 3, …"""
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def run(type: str, *inputs: Any, rules: Rules | None = None, **attrs: Any) -> list[np.ndarray]:
    """The op's results where nothing is known before running."""
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(np.asarray(x) for x in inputs):
        tensors.append(builder.placeholder(f"in{index}", DType.of(value.dtype), UNKNOWN))
        feeds[f"in{index}"] = value
    outputs = builder.op(type, *tensors, **attrs)
    backend = NumpyBackend() if rules is None else NumpyBackend(rules)
    return Session(builder.build(), backend).run([y.ref for y in outputs], feeds)


DATA, IDS = floats(1, 5, 3, 4), ints(0, -1, 1, 0)

# op type, inputs, result; TensorFlow 2.21 computed them
VALUES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("UnsortedSegmentSum", (DATA, IDS, 3), floats(5, 3, 0)),
    ("UnsortedSegmentMax", (DATA, IDS, 3), floats(4, 3, LOWEST)),
    ("UnsortedSegmentMin", (DATA, IDS, 3), floats(1, 3, HIGHEST)),
    ("UnsortedSegmentProd", (DATA, IDS, 3), floats(4, 3, 1)),
    ("UnsortedSegmentMax", (floats(-INF, -INF), ints(0, 0), 1), floats(LOWEST)),
    ("UnsortedSegmentMax", (np.uint8([1, 5]), ints(0, 0), 2), np.uint8([5, 0])),
    ("UnsortedSegmentMin", (np.int8([1, 5]), ints(0, 0), 2), np.int8([1, 127])),
    ("UnsortedSegmentProd", (np.complex64([1j, 1j]), ints(0, 0), 1), np.complex64([-1])),
    ("UnsortedSegmentMax", (counted(2, 3), ints([0, 1, 2], [1, 1, 1]), 3), floats(1, 6, 3)),
    ("UnsortedSegmentSum", (np.float32(1), np.int32(1), 3), floats(0, 1, 0)),
    ("SegmentSum", (DATA, ints(0, 0, 1, 3)), floats(6, 3, 0, 4)),
    ("SegmentMean", (DATA, ints(0, 0, 1, 3)), floats(3, 3, 0, 4)),
    ("SegmentMax", (DATA, ints(2, 2, 3, 3)), floats(0, 0, 5, 4)),
    ("SegmentMin", (DATA, ints(2, 2, 3, 3)), floats(0, 0, 1, 3)),
    ("SegmentProd", (DATA, ints(2, 2, 3, 3)), floats(1, 1, 5, 12)),
    ("SegmentMean", (ints(-3, -4), ints(0, 0)), ints(-3)),
    ("SegmentMean", (np.uint8([200, 100]), ints(0, 0)), np.uint8([22])),
    ("SegmentSum", (np.zeros((0, 3), np.float32), ints()), np.zeros((0, 3), np.float32)),
    ("SparseSegmentSum", (counted(3), ints(0, 2), ints(0, 2)), floats(1, 0, 3)),
    ("SparseSegmentMean", (counted(3), ints(0, 1), ints(1, 1)), floats(0, 1.5)),
    ("SparseSegmentSqrtN", (counted(3), ints(0, 0, 0), ints(0, 0, 0)), floats(np.sqrt(3))),
    (
        "SparseSegmentSumWithNumSegments",
        (counted(3), ints(0, 2), ints(0, 2), 4),
        floats(1, 0, 3, 0),
    ),
    ("SparseSegmentMeanGrad", (counted(2), ints(0, 2, 1), ints(0, 0, 1), 3), floats(0.5, 2, 0.5)),
    ("SparseSegmentSumGrad", (counted(2), ints(), ints(), 2), floats(0, 0)),
    ("TensorScatterUpdate", (counted(4), ints([1], [3], [1]), floats(9, 8, 7)), floats(1, 7, 3, 8)),
    ("TensorScatterAdd", (counted(4), ints([1], [3], [1]), floats(9, 8, 7)), floats(1, 18, 3, 12)),
    ("TensorScatterMax", (counted(4), ints([1], [3], [1]), floats(9, 8, 7)), floats(1, 9, 3, 8)),
    ("TensorScatterMin", (counted(4), ints([1], [3], [1]), floats(0, 8, -7)), floats(1, -7, 3, 4)),
    ("TensorScatterMax", (floats(NAN, 1), ints([0], [1]), floats(1, NAN)), floats(NAN, 1)),
    ("TensorScatterUpdate", (np.array([True]), ints([0]), np.array([False])), np.array([False])),
    ("ScatterNd", (ints([0], [0]), np.array([True, True]), ints(2)), np.array([True, False])),
    ("DynamicStitch", (ints(0, 2), ints(2), floats(1, 3), floats(2)), floats(1, 0, 2)),
    ("DynamicStitch", (np.int32(0), ints(1), np.float32(1), floats(2)), floats(1, 2)),
    ("ParallelDynamicStitch", (ints(), np.zeros((0, 2), np.float32)), np.zeros((0, 2), "f4")),
]


@pytest.mark.parametrize(("type", "inputs", "wanted"), VALUES)
def test_the_values_are_tensorflows(type: str, inputs: Any, wanted: Any) -> None:
    (found,) = run(type, *(np.int32(x) if isinstance(x, int) else x for x in inputs))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_rows_are_dealt_out_in_order() -> None:
    found = run("DynamicPartition", counted(4, 2), ints(0, 2, 0, 2), num_partitions=3)
    assert [x.tolist() for x in found] == [[[1, 2], [5, 6]], [], [[3, 4], [7, 8]]]
    assert found[1].shape == (0, 2)
    strings = np.array([b"a", b"b"], object)
    assert [x.tolist() for x in run("DynamicPartition", strings, ints(1, 0), num_partitions=2)] == [
        [b"b"],
        [b"a"],
    ]


# op type, inputs, attributes, TensorFlow 2.21's words
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    (
        "UnsortedSegmentMax",
        (counted(2), ints(0, 3), 3),
        {},
        r"segment_ids\[1\] = 3 is out of range \[0, 3\)",
    ),
    (
        "UnsortedSegmentProd",
        (np.float32(1), np.int32(5), 3),
        {},
        r"segment_ids = 5 is out of range",
    ),
    (
        "UnsortedSegmentMin",
        (counted(2, 3), ints(0), 3),
        {},
        r"data.shape = \[2,3\] does not start with",
    ),
    (
        "UnsortedSegmentSum",
        (counted(2), ints(0, 1), -1),
        {},
        "num_segments == -1 must not be negative",
    ),
    ("SegmentSum", (counted(2), ints(1, 0)), {}, "segment ids are not increasing"),
    ("SegmentMax", (counted(2), ints(0, -1)), {}, "segment ids must be >= 0"),
    ("SegmentMin", (counted(2), ints(-1, 0)), {}, r"Segment id -1 out of range \[0, 1\), possibly"),
    ("SegmentMean", (counted(3), ints(0, 1)), {}, "same size as dimension 0"),
    ("SegmentProd", (counted(2, 3), ints([0, 1, 2], [1, 1, 1])), {}, "should be a vector"),
    (
        "SparseSegmentSum",
        (counted(3), ints(0, 5), ints(0, 1)),
        {},
        r"Bad: indices\[1\] == 5 out of",
    ),
    ("SparseSegmentMean", (counted(3), ints(0, 1), ints(1, 0)), {}, "not increasing"),
    (
        "SparseSegmentSumWithNumSegments",
        (counted(3), ints(0), ints(2), 2),
        {},
        "must be < num_segments",
    ),
    (
        "SparseSegmentSumGrad",
        (counted(2), ints(0, 2), ints(0, 1), 2),
        {},
        r"Index 2 out of range \[0, 2\)",
    ),
    ("SparseSegmentSqrtNGrad", (counted(2), ints(0), ints(2), 2), {}, "Invalid number of segments"),
    ("SparseSegmentMeanGrad", (counted(2), ints(0), ints(-1), 2), {}, "Segment id -1 out of range"),
    (
        "TensorScatterAdd",
        (counted(2), ints([0], [-1]), counted(2)),
        {},
        r"\[1\] = \[-1\] does not index into",
    ),
    (
        "TensorScatterSub",
        (counted(2), ints([0, 0]), counted(1)),
        {},
        r"Output: \[2\] updates: \[1\]",
    ),
    (
        "TensorScatterMin",
        (counted(2), ints([0]), counted(2)),
        {},
        "Outer dimensions of indices and update",
    ),
    (
        "TensorScatterMax",
        (counted(2), ints(0), np.float32(1)),
        {},
        "Updates shape must have rank at least",
    ),
    ("TensorScatterUpdate", (counted(0), ints([0]), counted(1)), {}, "for empty output shape"),
    (
        "ScatterNd",
        (ints([0, 0]), counted(1), ints(2)),
        {},
        r"\[2,1\) of input\[shape=\[2\]\] must match",
    ),
    ("ScatterNd", (ints([0]), counted(1), ints(2)), {"bad_indices_policy": "X"}, "attribute: X"),
    (
        "DynamicPartition",
        (counted(4), ints(0, 2, 0, 1)),
        {"num_partitions": 2},
        r"\[1\] = 2 is not in \[0, 2\)",
    ),
    (
        "DynamicPartition",
        (counted(4), ints(0, 2)),
        {"num_partitions": 2},
        "must start with partitions.shape",
    ),
    (
        "DynamicStitch",
        (ints(0), ints(1, -1), counted(1), counted(2)),
        {},
        r"indices\[1\] is out of range",
    ),
    ("DynamicStitch", (ints(0, 1), counted(1)), {}, r"data\[0\].shape = \[1\] does not start with"),
    (
        "DynamicStitch",
        (ints(0), ints(1), counted(1, 2), counted(1)),
        {},
        r"Need data\[0\].shape\[1:\]",
    ),
]


@pytest.mark.parametrize(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_tensorflow_refuses_is_refused_in_its_words(
    type: str, inputs: Any, attrs: Any, words: str
) -> None:
    with pytest.raises(GradstepError, match=words):
        run(type, *(np.int32(x) if isinstance(x, int) else x for x in inputs), **attrs)


@pytest.mark.parametrize(
    ("row", "type", "inputs"),
    [
        ("segment_sum_unsorted", "SegmentSum", (counted(3), ints(1, 0, 2))),
        (
            "tensor_scatter_nd_update_oor",
            "TensorScatterUpdate",
            (counted(2), ints([5]), counted(1)),
        ),
    ],
)
def test_the_words_are_the_recorded_ones(row: str, type: str, inputs: Any) -> None:
    with pytest.raises(GradstepError) as caught:
        run(type, *inputs)
    assert caught.value.message == oracle.message(oracle.case("gather_out_of_range_cpu")[row])


def rules(scatter: str, negative_ok: bool = False, gather: str = "zero") -> Rules:
    return Rules("test", "", OutOfRange(gather), OutOfRange(scatter), negative_ok)


def test_other_systems_drop_what_is_outside() -> None:
    chosen = rules("zero")
    (found,) = run("TensorScatterUpdate", counted(2), ints([5], [0]), floats(7, 8), rules=chosen)
    assert found.tolist() == [8, 2]
    (found,) = run("UnsortedSegmentMax", counted(3), ints(0, 9, -1), np.int32(2), rules=chosen)
    assert found.tolist() == [1, LOWEST]
    (found,) = run("SparseSegmentSum", counted(2), ints(0, 9), ints(0, 0), rules=chosen)
    assert found.tolist() == [1]
    parts = run("DynamicPartition", counted(3), ints(0, 9, 1), num_partitions=2, rules=chosen)
    assert [x.tolist() for x in parts] == [[1], [3]]


def test_other_systems_take_what_is_outside_somewhere_else() -> None:
    for policy, wanted in (("wrap", [1, 9]), ("clamp", [1, 9])):
        (found,) = run("TensorScatterUpdate", counted(2), ints([3]), floats(9), rules=rules(policy))
        assert found.tolist() == wanted
    (found,) = run("TensorScatterAdd", counted(2), ints([-1]), floats(9), rules=rules("zero", True))
    assert found.tolist() == [1, 11]


def test_bad_indices_can_be_ignored() -> None:
    inputs = counted(2), ints([0], [7]), floats(5, 9)
    assert run("TensorScatterMax", *inputs, bad_indices_policy="IGNORE")[0].tolist() == [5, 2]


def gradient(type: str, *inputs: Any) -> Any:
    """Of the sum of the op's first result with respect to input 0."""
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", np.shape(inputs[0]))
    y = builder.op(type, x, *[builder.constant(np.asarray(i)) for i in inputs[1:]])[0]
    found = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    return Session(found.graph).run([found.gradients[x.ref]], {"x": inputs[0]})[0].tolist()


# TensorFlow 2.21 computed them
@pytest.mark.parametrize(
    ("type", "inputs", "wanted"),
    [
        ("UnsortedSegmentMax", (floats(5, 5, 3), ints(0, 0, 0), np.int32(2)), [0.5, 0.5, 0]),
        ("SegmentMin", (floats(1, 1, 3), ints(0, 0, 0)), [0.5, 0.5, 0]),
        ("UnsortedSegmentProd", (floats(0, 2, 3), ints(0, 0, 0), np.int32(1)), [6, 0, 0]),
        ("UnsortedSegmentProd", (floats(0, 0, 3), ints(0, 0, 0), np.int32(1)), [0, 0, 0]),
        ("SegmentProd", (floats(0, 2, 0, 4), ints(0, 0, 1, 1)), [2, 0, 4, 0]),
        ("TensorScatterMax", (floats(5, 1), ints([0], [0]), floats(5, 5)), [1 / 3, 1]),
        ("TensorScatterUpdate", (floats(5, 1), ints([0]), floats(7)), [0, 1]),
        ("TopKV2", (floats(3, 3, 1), np.int32(1)), [1, 0, 0]),
    ],
)
def test_kinks_are_shared_as_tensorflow_shares_them(type: str, inputs: Any, wanted: Any) -> None:
    np.testing.assert_allclose(gradient(type, *inputs), wanted, rtol=1e-6)


@pytest.mark.parametrize("type", ["Unique", "UniqueWithCounts"])
def test_distinct_values_have_no_gradient(type: str) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (3,))
    y = builder.op(type, x)[0]
    with pytest.raises(GradstepError, match="No gradient defined") as caught:
        differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    assert caught.value.kind == "LookupError"


KINDS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 complex64".split()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_element_type_are_added_as_a_gpu_can(kind: str) -> None:
    values = np.array([1, 0, 1, 1], kind)
    put = fake_xp.put
    total = put(np.zeros(2, kind))
    found = rows.add_rows(fake_xp.xp, total, put(values), put(np.array([0, 1, 0, 0]))).get()
    assert found.dtype == kind
    assert found.tolist() == ([True, False] if kind == "bool" else [3, 0])


def test_wide_integers_are_added_exactly() -> None:
    big = np.array([2**62, 1, -(2**63)])
    found = rows.sum_rows(np, big, np.zeros(3, np.int64), None, 1)
    assert found.tolist() == [2**62 + 1 - 2**63]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 65])
def test_combining_rows_takes_in_each_once(count: int) -> None:
    rng = np.random.default_rng(count)
    places, values = rng.integers(0, 4, count), rng.uniform(0.5, 2, (count, 2))
    wanted = np.ones((4, 2))
    np.multiply.at(wanted, places, values)
    found = rows.combine_rows(np, np.multiply, np.ones((4, 2)), values, places)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_of_rows_for_one_place_the_last_is_written() -> None:
    found = rows.write_rows(np, np.zeros(3), np.arange(1.0, 6.0), np.array([2, 0, 2, 0, 2]))
    assert found.tolist() == [4, 0, 5]
