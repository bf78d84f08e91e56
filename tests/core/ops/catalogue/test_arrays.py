"""Cutting, padding, turning and finding: the results that TensorFlow 2.21 gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.running import counted, drawn, fed, floats, ints

NAN = np.nan
STRINGS = np.array([b"b", b"a", b"b"], object)

# op type, inputs, attributes, results; TensorFlow 2.21 computed them
VALUES: list[tuple[str, tuple[Any, ...], dict[str, Any], list[Any]]] = [
    (
        "Split",
        (np.int32(-1), counted(2, 2)),
        {"num_split": 2},
        [floats([1], [3]), floats([2], [4])],
    ),
    (
        "SplitV",
        (counted(4), ints(1, -1), np.int32(0)),
        {"num_split": 2},
        [counted(1), floats(2, 3, 4)],
    ),
    ("Unpack", (np.zeros((0, 3), "f4"),), {"num": 0}, []),
    ("Pad", (np.array([True]), ints([1, 0])), {}, [np.array([False, True])]),
    ("Pad", (np.zeros(0, "f4"), ints([1, 1])), {}, [floats(0, 0)]),
    ("PadV2", (counted(2), ints([1, 0]), np.float32(7)), {}, [floats(7, 1, 2)]),
    ("MirrorPad", (counted(3), ints([2, 1])), {"mode": "REFLECT"}, [floats(3, 2, 1, 2, 3, 2)]),
    ("MirrorPad", (counted(3), ints([2, 1])), {"mode": "SYMMETRIC"}, [floats(2, 1, 1, 2, 3, 3)]),
    ("MirrorPadGrad", (counted(6), ints([2, 1])), {"mode": "REFLECT"}, [floats(3, 12, 6)]),
    ("MirrorPadGrad", (counted(6), ints([2, 1])), {"mode": "SYMMETRIC"}, [floats(5, 5, 11)]),
    ("Reverse", (counted(2, 2), np.array([True, False])), {}, [floats([3, 4], [1, 2])]),
    (
        "ReverseSequence",
        (counted(2, 4), np.array([2, 3], np.int64)),
        {"seq_dim": 1},
        [floats([2, 1, 3, 4], [7, 6, 5, 8])],
    ),
    ("Roll", (counted(2, 3), ints(1, 1), ints(1, 1)), {}, [floats([2, 3, 1], [5, 6, 4])]),
    ("Where", (floats(0, -0.0, NAN, 1),), {}, [np.array([[2], [3]])]),
    ("Where", (np.zeros((0, 2), bool),), {}, [np.zeros((0, 2), np.int64)]),
    ("Unique", (floats(NAN, 1, NAN, 0, -0.0),), {}, [floats(NAN, 1, NAN, 0), ints(0, 1, 2, 3, 3)]),
    ("Unique", (STRINGS,), {}, [np.array([b"b", b"a"], object), ints(0, 1, 0)]),
    ("Unique", (np.array([True, False, True]),), {}, [np.array([True, False]), ints(0, 1, 0)]),
    (
        "UniqueWithCounts",
        (ints(3, 1, 3, 2, 1),),
        {},
        [ints(3, 1, 2), ints(0, 1, 0, 2, 1), ints(2, 2, 1)],
    ),
    ("ListDiff", (floats(NAN, 1), floats(NAN)), {}, [floats(NAN, 1), ints(0, 1)]),
    ("TopKV2", (floats(1, 3, 2, 3), np.int32(2)), {}, [floats(3, 3), ints(1, 3)]),
    ("TopKV2", (np.uint8([3, 200, 5]), np.int32(2)), {}, [np.uint8([200, 5]), ints(1, 2)]),
    (
        "InTopKV2",
        (floats([0.1, 0.9, 0.3], [0.5, 0.5, 0.1]), ints(2, 1), np.int32(1)),
        {},
        [np.array([False, True])],
    ),
    ("InTopK", (floats([1, np.inf, 2]), ints(0)), {"k": 3}, [np.array([False])]),
    ("InTopK", (floats([1, 2, 3]), ints(5)), {"k": 3}, [np.array([False])]),
    ("Bincount", (ints([1, 2], [1, 0]), np.int32(3), floats()), {}, [floats(1, 2, 1)]),
    ("DenseBincount", (ints([1, 1], [9, 0]), np.int32(2), floats()), {}, [floats([0, 2], [1, 0])]),
    (
        "HistogramFixedWidth",
        (floats(-1, 0, 1.5, 2, 5, 15), floats(0, 5), np.int32(5)),
        {},
        [ints(2, 1, 1, 0, 2)],
    ),
    ("Bucketize", (floats(-1, 0, 5, NAN),), {"boundaries": (0.0, 5.0)}, [ints(0, 1, 2, 2)]),
    (
        "SpaceToBatchND",
        (counted(1, 3, 1), ints(2), ints([1, 0])),
        {},
        [floats([[0], [2]], [[1], [3]])],
    ),
    ("BatchToSpaceND", (counted(2, 2, 1), ints(2), ints([1, 0])), {}, [floats([[3], [2], [4]])]),
    (
        "DepthToSpace",
        (counted(1, 1, 1, 4),),
        {"block_size": 2},
        [floats([[[1], [2]], [[3], [4]]])],
    ),
    ("BroadcastTo", (counted(1), np.array([0], np.int64)), {}, [floats()]),
    ("BroadcastArgs", (ints(2, 1), ints(1, 3)), {}, [ints(2, 3)]),
    ("Slice", (counted(3), np.array([1]), np.array([-1])), {}, [floats(2, 3)]),
    ("Empty", (ints(2),), {"dtype": DType.BOOL, "init": True}, [np.array([False, False])]),
    ("ZerosLike", (STRINGS[:1],), {}, [np.array([b""], object)]),
    (
        "OneHot",
        (ints(0, 2), np.int32(3), np.int64(5), np.int64(-1)),
        {},
        [np.int64([[5, -1, -1], [-1, -1, 5]])],
    ),
]


@each_of("run", [fed, drawn])
@each_of(("type", "inputs", "attrs", "wanted"), VALUES)
def test_the_values_are_tensorflows(
    run: Any, type: str, inputs: Any, attrs: Any, wanted: list[Any]
) -> None:
    found = run(type, inputs, attrs)
    assert [(x.dtype, x.shape) for x in found] == [(w.dtype, w.shape) for w in wanted]
    for result, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("masks", "shape"),
    [
        ({}, (None, None, 5)),
        ({"shrink_axis_mask": 1}, (None, 5)),
        ({"ellipsis_mask": 1}, (3, 4, None)),
        ({"ellipsis_mask": 1, "new_axis_mask": 2}, (3, 4, 5, 1)),
    ],
)
def test_a_slice_from_fed_places_has_the_sizes_of_whole_axes(masks: Any, shape: Any) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (3, 4, 5))
    begin = builder.placeholder("begin", "int32", (2,))
    assert builder.one("StridedSlice", x, begin, begin, begin, **masks).shape == Shape(shape)


def test_a_box_has_the_sizes_that_are_known() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (None, 4))
    assert builder.one("Slice", x, ints(0, 1), ints(-1, -1)).shape == Shape.of(None, 3)


def test_a_default_is_used_unless_it_is_fed() -> None:
    builder = GraphBuilder()
    given = builder.one(
        "PlaceholderWithDefault", builder.constant(ints(2, 3)), shape=Shape.of(None)
    )
    made = builder.one("Fill", given, np.float32(1))
    assert made.shape.rank is None  # what is fed may be of another size
    session = Session(builder.build())
    assert session.run([made.ref])[0].shape == (2, 3)
    assert session.run([made.ref], {given.ref: ints(4)})[0].shape == (4,)


def test_lists_of_inputs_are_as_long_as_each_other() -> None:
    builder = GraphBuilder()
    with pytest.raises(GradstepError, match="an even number of inputs"):
        builder.op("DynamicStitch", ints(0), ints(1), counted(1))
