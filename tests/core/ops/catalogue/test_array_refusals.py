"""Cutting, padding, turning and finding: what TensorFlow 2.21 refuses, in its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape
from tests.support.each_case import each_of
from tests.support.running import counted, drawn, fed, floats, ints

NAN = np.nan
STRINGS = np.array([b"b", b"a", b"b"], object)

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


@each_of("run", [fed, drawn])
@each_of(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_tensorflow_refuses_is_refused_in_its_words(
    run: Any, type: str, inputs: Any, attrs: Any, words: str
) -> None:
    with pytest.raises(GradstepError, match=words):
        run(type, inputs, attrs)


@each_of(
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
