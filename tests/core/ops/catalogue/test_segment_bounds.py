"""Rows of segments and scatters that are outside: TensorFlow 2.21's words, other systems' rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.system_rules import TF_CPU, OutOfRange, Rules
from tests.support import oracle
from tests.support.each_case import each_of
from tests.support.running import counted, fed, floats, ints

LOWEST = np.finfo(np.float32).min


def run(type: str, *inputs: Any, rules: Rules = TF_CPU, **attrs: Any) -> list[np.ndarray]:
    """The op's results; Python numbers are int32."""
    arrays = [np.int32(x) if isinstance(x, int) else x for x in inputs]
    return fed(type, arrays, attrs, rules)


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
    ("ScatterNd", (ints([0]), counted(1), ints(2)), {"bad_indices_policy": "X"}, "is not one of"),
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


@each_of(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_tensorflow_refuses_is_refused_in_its_words(
    type: str, inputs: Any, attrs: Any, words: str
) -> None:
    with pytest.raises(GradstepError, match=words):
        run(type, *inputs, **attrs)


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
