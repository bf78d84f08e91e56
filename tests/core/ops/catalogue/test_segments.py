"""Rows scattered, summed by segments, dealt out and stitched, as TensorFlow 2.21 does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from tests.support.each_case import each_of
from tests.support.running import counted, fed, floats, ints

NAN, INF = np.nan, np.inf
LOWEST, HIGHEST = np.finfo(np.float32).min, np.finfo(np.float32).max


def run(type: str, *inputs: Any, rules: Rules = TF_CPU, **attrs: Any) -> list[np.ndarray]:
    """The op's results; Python numbers are int32."""
    arrays = [np.int32(x) if isinstance(x, int) else x for x in inputs]
    return fed(type, arrays, attrs, rules)


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


@each_of(("type", "inputs", "wanted"), VALUES)
def test_the_values_are_tensorflows(type: str, inputs: Any, wanted: Any) -> None:
    (found,) = run(type, *inputs)
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
