"""Cutting, padding, turning and finding: results and refusals that TensorFlow 2.21 gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.engine.session import Session
from core.errors import GradstepError
from core.graph.dtypes import UNKNOWN, DType, Shape
from core.ops.builder import GraphBuilder


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def counted(*shape: int) -> np.ndarray:
    """1, 2, 3, …"""
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def fed(type: str, inputs: Any, attrs: dict[str, Any]) -> list[np.ndarray]:
    """The op's results where nothing is known before running."""
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(np.asarray(x) for x in inputs):
        tensors.append(builder.placeholder(f"in{index}", DType.of(value.dtype), UNKNOWN))
        feeds[f"in{index}"] = value
    outputs = builder.op(type, *tensors, **attrs)
    return Session(builder.build()).run([y.ref for y in outputs], feeds)


def drawn(type: str, inputs: Any, attrs: dict[str, Any]) -> list[np.ndarray]:
    """The op's results on constants."""
    builder = GraphBuilder()
    tensors = [builder.constant(np.asarray(x)) for x in inputs]
    outputs = builder.op(type, *tensors, **attrs)
    return Session(builder.build()).run([y.ref for y in outputs])


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


@pytest.mark.parametrize("run", [fed, drawn])
@pytest.mark.parametrize(("type", "inputs", "attrs", "wanted"), VALUES)
def test_the_values_are_tensorflows(
    run: Any, type: str, inputs: Any, attrs: Any, wanted: list[Any]
) -> None:
    found = run(type, inputs, attrs)
    assert [(x.dtype, x.shape) for x in found] == [(w.dtype, w.shape) for w in wanted]
    for result, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(result, expected)


# op type, inputs, attributes, TensorFlow 2.21's words
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    (
        "Split",
        (np.int32(0), counted(3)),
        {"num_split": 2},
        r"split_dim 0 \(size = 3\) and num_split 2",
    ),
    (
        "Split",
        (np.int32(2), counted(3)),
        {"num_split": 1},
        r"rank\(-1\) <= split_dim < input rank \(1\)",
    ),
    ("Split", (np.int32(0), counted(3)), {"num_split": 0}, "passed 0 less than minimum 1"),
    ("SplitV", (counted(4), ints(-1, -1), np.int32(0)), {"num_split": 2}, "only be one -1"),
    (
        "SplitV",
        (counted(4), ints(1, 2), np.int32(0)),
        {"num_split": 2},
        "not fully specified.  Got: 3",
    ),
    (
        "SplitV",
        (counted(4), ints(-2, 6), np.int32(0)),
        {"num_split": 2},
        "index 0 must be >= 0. Got: -2",
    ),
    (
        "SplitV",
        (counted(4), ints(-1), np.int32(0)),
        {"num_split": 1},
        "Input size: 4 output size: -1",
    ),
    ("SplitV", (counted(4), ints(1, 3), np.int32(0)), {"num_split": 3}, "got 1 -D and 2 elements"),
    ("Unpack", (np.float32(1),), {"num": 1}, r"axis = 0 not in \[0, 0\)"),
    ("Pad", (counted(2), ints([-1, 0])), {}, "Paddings must be non-negative"),
    ("Pad", (counted(2), ints(1, 1)), {}, r"must be a matrix with 2 columns: \[2\]"),
    ("Pad", (counted(2), ints([1, 1], [0, 0])), {}, "must be the rank of inputs"),
    ("PadV2", (counted(2), ints([1, 1]), floats(7)), {}, r"must be a scalar. Found: \[1\]"),
    ("MirrorPad", (counted(3), ints([3, 0])), {"mode": "REFLECT"}, "3, 0 not less than 3"),
    ("MirrorPad", (counted(3), ints([4, 0])), {"mode": "SYMMETRIC"}, "4, 0 greater than 3"),
    ("MirrorPadGrad", (counted(4), ints([2, 2])), {"mode": "REFLECT"}, "4 was not less than 4"),
    ("MirrorPadGrad", (counted(5), ints([2, 2])), {"mode": "REFLECT"}, "2, 2 not less than 1"),
    ("ReverseV2", (counted(2, 3), ints(0, -2)), {}, "axis 0 specified more than once."),
    ("ReverseV2", (counted(2, 3), ints(2)), {}, r"'axis'\[0\] = 2 is out of valid range \[0, 1"),
    ("Reverse", (counted(2, 3), np.array([True])), {}, "same number of values as 'input'"),
    (
        "ReverseSequence",
        (counted(2, 4), ints(5, 1)),
        {"seq_dim": 1},
        r"seq_lens\(0\) > input.dims\(1\)",
    ),
    ("ReverseSequence", (counted(2, 4), ints(1, -1)), {"seq_dim": 1}, r"seq_lens\(1\) < 0"),
    ("ReverseSequence", (counted(2, 4), ints(1)), {"seq_dim": 1}, r"\(1 vs. 2\)"),
    ("ReverseSequence", (counted(2, 4), ints(1, 1)), {"seq_dim": 0}, "batch_dim == seq_dim == 0"),
    ("Roll", (counted(2, 3), ints(1), ints(2)), {}, "axis 2 is out of range"),
    ("Roll", (counted(2, 3), ints(1, 2), ints(0)), {}, "must have the same size"),
    ("Where", (np.array(True),), {}, "WhereOp : Unhandled input dimensions: 0"),
    ("Unique", (counted(2, 2),), {}, "unique expects a 1D vector."),
    ("ListDiff", (counted(2), counted(2, 2)), {}, "y should be a 1D vector."),
    ("TopKV2", (counted(2), np.int32(3)), {}, "must have at least k columns. Had 2, needed 3"),
    ("TopKV2", (counted(2), np.int32(-1)), {}, "Need k >= 0, got -1"),
    ("InTopKV2", (counted(1, 3), ints(0, 1), np.int32(1)), {}, "must match length of targets 2"),
    ("Bincount", (ints(1, -1), np.int32(3), floats()), {}, "Input arr must be non-negative!"),
    ("Bincount", (ints(1, 1), np.int32(3), floats(1)), {}, "must have the same size"),
    ("DenseBincount", (ints(1, 1), np.int32(3), floats(1)), {}, r"Received \[1\]"),
    ("HistogramFixedWidth", (floats(NAN), floats(0, 1), np.int32(2)), {}, "must not contain NaN"),
    ("HistogramFixedWidth", (floats(1), floats(2, 1), np.int32(2)), {}, r"but got '\[2, 1\]'"),
    (
        "HistogramFixedWidth",
        (floats(1), floats(0, 1), np.int32(0)),
        {},
        "positive number, but got '0'",
    ),
    ("Bucketize", (floats(1),), {"boundaries": (5.0, 1.0)}, "Expected sorted boundaries"),
    (
        "SpaceToBatchND",
        (counted(1, 3, 1), ints(2), ints([0, 0])),
        {},
        r"padded_shape\[0\]=3 is not",
    ),
    ("SpaceToBatchND", (counted(1, 4, 1), ints(0), ints([0, 0])), {}, "must be positive"),
    (
        "BatchToSpaceND",
        (counted(3, 2), ints(2), ints([0, 0])),
        {},
        r"dimension \(3\) is not divisible",
    ),
    ("BatchToSpaceND", (counted(2, 2), ints(2), ints([3, 2])), {}, "must be non-negative"),
    ("SpaceToDepth", (counted(1, 3, 3, 1),), {"block_size": 2}, "width 3 and height 3"),
    ("DepthToSpace", (counted(1, 2, 2, 3),), {"block_size": 2}, "depth dimension 3 should be"),
    ("DepthToSpace", (counted(1, 2, 2, 4),), {"block_size": 1}, "passed 1 less than minimum 2"),
    ("BroadcastTo", (counted(3), ints(0)), {}, r"Incompatible shapes: \[3\] vs. \[0\]"),
    ("BroadcastTo", (counted(2, 3), ints(3)), {}, r"no greater than rank of output shape \(1\)"),
    ("BroadcastTo", (counted(1), ints(-1)), {}, "Dimension -1 must be >= 0"),
    ("BroadcastArgs", (ints(2), ints(3)), {}, r"Incompatible shapes: \[2\] vs. \[3\]"),
    ("EnsureShape", (counted(2, 3),), {"shape": Shape.of(2, 4)}, r"\[2,3\] is not compatible with"),
    ("Tile", (counted(2), ints(-1)), {}, r"Expected multiples\[0\] >= 0, but got -1"),
    ("ConcatV2", (np.float32(1), np.float32(1), np.int32(0)), {}, "Can't concatenate scalars"),
    ("ConcatV2", (counted(2), counted(2, 1), np.int32(0)), {}, "Ranks of all input tensors"),
    ("ConcatV2", (counted(2), counted(2), np.int32(1)), {}, r"in the range \[-1, 1\), but got 1"),
    ("Concat", (np.int32(0), counted(2, 3), counted(2, 2)), {}, "Dimension 1 in both shapes"),
    ("Pack", (counted(2), counted(2)), {"axis": 2}, r"axis = 2 not in \[-2, 2\)"),
    ("ConcatOffset", (np.int32(2), ints(2, 3), ints(2, 1)), {}, "out of range: 2 vs. 2"),
    ("Squeeze", (counted(1, 3),), {"squeeze_dims": (5,)}, "squeeze dim index 5 for tensor with 2"),
    ("Transpose", (counted(2, 3), ints(0, 2)), {}, r"2 is out of range \[0 .. 2\)"),
    ("Slice", (counted(3), ints(0), ints(-2)), {}, r"Expected size\[0\] in \[0, 3\], but got -2"),
    ("StridedSlice", (np.float32(1), ints(0), ints(1), ints(1)), {}, "Attempting to slice scalar"),
    (
        "StridedSlice",
        (counted(2), ints(-4), ints(0), ints(1)),
        {"shrink_axis_mask": 1},
        "slice index -2 of dimension 0 out of bounds.",
    ),
    (
        "GatherV2",
        (counted(2, 3), ints([0], [1], [0]), np.int32(1)),
        {"batch_dims": 1},
        r"params.shape\[0\]: 2",
    ),
    (
        "GatherV2",
        (counted(2, 3), ints([0, 1]), np.int32(0)),
        {"batch_dims": 1},
        r"\(1\) must be less than",
    ),
    ("GatherNd", (counted(2, 3), ints(0, 1, 1)), {}, r"must be <= params.rank"),
    ("OneHot", (ints(0), ints(3), floats(1)[0], floats(0)[0]), {}, "depth"),
]


@pytest.mark.parametrize("run", [fed, drawn])
@pytest.mark.parametrize(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_tensorflow_refuses_is_refused_in_its_words(
    run: Any, type: str, inputs: Any, attrs: Any, words: str
) -> None:
    with pytest.raises(GradstepError, match=words):
        run(type, inputs, attrs)


@pytest.mark.parametrize(
    ("type", "inputs", "words"),
    [
        ("Where", (STRINGS,), "takes numbers or bool, not string"),
        ("Unique", (np.complex64([1]),), "takes real numbers, bool or strings, not complex64"),
        ("ListDiff", (np.array([True]),) * 2, "takes real numbers or strings, not bool"),
        ("TopKV2", (np.array([True]), np.int32(1)), "takes real numbers, not bool"),
        (
            "InTopKV2",
            (np.zeros((1, 2)), ints(0), np.int32(1)),
            "predictions of element type float32",
        ),
        ("Bincount", (np.int64([1]), np.int32(1), floats()), "element type int32"),
        ("OnesLike", (STRINGS,), "takes numbers or bool, not string"),
        ("OneHot", (np.int16([0]), np.int32(2), *floats(1, 0)), "uint8, int8, int32 or int64"),
    ],
)
def test_element_types_that_tensorflow_lacks_are_refused(
    type: str, inputs: Any, words: str
) -> None:
    with pytest.raises(GradstepError, match=words):
        drawn(type, inputs, {})


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
