"""Empty tensors, repeated axes, extreme numbers: TensorFlow 2.21's results, as recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.each_case import each_of

EMPTY_ROWS = np.zeros((2, 0), np.float32)


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


# op type, inputs, attributes, results
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], list[np.ndarray]]] = [
    ("Softmax", (EMPTY_ROWS,), {}, [EMPTY_ROWS]),
    ("LogSoftmax", (EMPTY_ROWS,), {}, [EMPTY_ROWS]),
    ("SoftmaxCrossEntropyWithLogits", (EMPTY_ROWS,) * 2, {}, [floats(0, 0), EMPTY_ROWS]),
    ("Pad", (np.float32(1), np.zeros((0, 2), np.int32)), {}, [np.float32(1)]),
    (
        "GatherV2",
        (np.zeros((3, 0), np.float32), ints(5), np.int32(0)),
        {},
        [np.zeros((1, 0), "f4")],
    ),
    ("UnsortedSegmentSum", (EMPTY_ROWS, ints(0, 9), np.int32(3)), {}, [np.zeros((3, 0), "f4")]),
    ("Reshape", (floats(), ints(-1, 0)), {}, [np.zeros((1, 0), np.float32)]),
    ("Reshape", (np.zeros((0, 3), "f4"), ints(0, -1)), {}, [np.zeros((0, 3), np.float32)]),
    ("Transpose", (floats([1, 2, 3]), ints(-1, 0)), {}, [floats([1], [2], [3])]),
    ("Squeeze", (floats(1),), {"squeeze_dims": (0, 0)}, [np.float32(1)]),
    ("Mean", (np.zeros((0, 2), np.int32), ints(0)), {}, [ints(0, 0)]),
    ("Mean", (ints(2**31 - 1, 2**31 - 1), np.int32(0)), {}, [np.int32(2**31 - 1)]),
    ("Mean", (ints(-3, -4), np.int32(0)), {}, [np.int32(-3)]),
    ("Mean", (np.uint8([200, 100]), np.int32(0)), {}, [np.uint8(150)]),
    ("Mean", (np.int64([2**62] * 3), np.int32(0)), {}, [np.int64(-1537228672809129301)]),
    ("Range", tuple(floats(0, 0.3, 0.1)), {}, [floats(0, 0.1, 0.2)]),
    ("Range", tuple(floats(0, 3, np.inf)), {}, [floats()]),
    ("BroadcastGradientArgs", (ints(1, 3), ints(1, 1)), {}, [ints(0), ints(0, 1)]),
    ("BroadcastGradientArgs", (ints(), ints(1, 1)), {}, [ints(0, 1), ints(0, 1)]),
    ("BroadcastGradientArgs", (ints(1, 3), ints(1, 3)), {}, [ints(), ints()]),
    ("Cast", (np.complex64([1 + 2j]),), {"DstT": DType.FLOAT32}, [floats(1)]),
    ("Sigmoid", (np.complex128(1.25 - 0.5j),), {}, [np.complex128(0.7895725508 - 0.0866638508j)]),
    ("SqrtGrad", (np.complex128(1 + 2j), np.complex128(1)), {}, [np.complex128(0.1 + 0.2j)]),
]
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("Sum", (floats(1, 2), ints(0, -1)), {}, "Axes contains duplicate dimension: 0"),
    ("Max", (floats([1, 2]), ints([0, 1])), {}, "Shape must be at most rank 1 but is rank 2"),
    ("Range", tuple(floats(0, np.inf, 1)), {}, r"Requires \(\(limit - start\) / delta\) <="),
    ("Range", tuple(floats(0, 1e30, 1e-3)), {}, r"Requires \(\(limit - start\) / delta\) <="),
    ("Fill", (ints(-1), np.float32(1)), {}, "Fill dimensions must be >= 0"),
    ("OneHot", (ints(0), np.int32(-1), *floats(1, 0)), {}, "depth must be non-negative, got: -1"),
    ("OneHot", (ints(0), np.int32(3), *floats(1, 0)), {"axis": -2}, "Expected axis to be -1 or"),
    ("ExpandDims", (floats(1), ints(0, 1)), {}, "must be a tensor with a single value"),
    ("ConcatV2", (floats(1), np.int32(0)), {}, "at least two values"),
    ("StridedSlice", (floats(1), ints(0), ints(1), ints(-1)), {"shrink_axis_mask": 1}, "stride 1"),
    ("StridedSlice", (floats(1), *[ints(0, 1)] * 3), {"ellipsis_mask": 3}, "Multiple ellipses"),
    ("InvertPermutation", (ints(1, 1, 0),), {}, "1 is duplicated in the input."),
    ("InvertPermutation", (ints(3, 1, 0),), {}, "3 is not between 0 and 3"),
    ("ConcatOffset", (np.int32(1), ints(2, 3), ints(4, 1)), {}, "except 1 must match. Input 1"),
    ("BroadcastGradientArgs", (ints(2), ints(3)), {}, r"Incompatible shapes: \[2\] vs. \[3\]"),
    ("GatherNd", (np.zeros((1, 0), "f4"), ints([0])), {}, "more than 0 entries, but params is em"),
    (
        "ScatterNd",
        (ints([0, 0], [0, 1]), floats(1, 2), ints(2)),
        {},
        r"\[2,1\) of input\[shape=\[2\]\] must match dimensions \[1,1\) of updates",
    ),
    (
        "ScatterNd",
        (ints([0]), floats([1, 2]), ints(2, 3)),
        {},
        r"of input\[shape=\[2,3\]\] must match dimensions \[1,2\) of updates\[shape=\[1,2\]\]",
    ),
]


def fed(type: str, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[np.ndarray]:
    """The op on placeholders of which nothing is known before running."""
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(np.asarray(x) for x in inputs):
        tensors.append(builder.placeholder(f"in{index}", str(value.dtype), UNKNOWN))
        feeds[f"in{index}"] = value
    outputs = builder.op(type, *tensors, **attrs)
    return Session(builder.build()).run([y.ref for y in outputs], feeds)


def drawn(type: str, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[np.ndarray]:
    """The op on constants."""
    builder = GraphBuilder()
    outputs = builder.op(type, *[builder.constant(np.asarray(x)) for x in inputs], **attrs)
    return Session(builder.build()).run([y.ref for y in outputs])


@each_of("run", [fed, drawn])
@each_of(("type", "inputs", "attrs", "wanted"), CASES)
def test_the_result_is_the_recorded_one(
    run: Any, type: str, inputs: Any, attrs: Any, wanted: list[np.ndarray]
) -> None:
    found = run(type, inputs, attrs)
    assert [(x.dtype, x.shape) for x in found] == [(w.dtype, w.shape) for w in wanted]
    for result, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)


@each_of("run", [fed, drawn])
@each_of(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_tensorflow_refuses_is_refused(
    run: Any, type: str, inputs: Any, attrs: Any, words: str
) -> None:
    with pytest.raises(GradstepError, match=words):
        run(type, inputs, attrs)


@pytest.mark.parametrize(
    ("type", "attrs", "words"),
    [
        ("Squeeze", {"squeeze_dims": 0}, "must be a list of whole numbers, not 0"),
        ("Squeeze", {"squeeze_dims": ("a",)}, "must be a list of whole numbers, not"),
        ("Cast", {"DstT": 7}, "attribute 'DstT' must be an element type, not 7"),
        ("Cast", {"DstT": "float23"}, "must be an element type, not 'float23'"),
        ("Unpack", {"num": "two"}, "attribute 'num' must be a whole number, not 'two'"),
    ],
)
def test_an_attribute_of_the_wrong_kind_is_an_error_at_the_node(
    type: str, attrs: dict[str, Any], words: str
) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (2, 1))
    with pytest.raises(GradstepError, match=words) as caught:
        builder.op(type, x, name="it", **attrs)
    assert caught.value.node == "it"


def test_joining_a_single_value_is_the_value() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        joined: Tensor = tf.concat([builder.placeholder("x", "float32", (2,))], 0)
    assert joined.op.type == "Identity"
