"""What does not fit is said where it is, while drawing or while running, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.interpret import evaluate


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


# op type, inputs, attributes, a piece of the message
STATIC: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("AddV2", (zeros(2), zeros(3)), {}, r"Incompatible shapes: \[2\] vs. \[3\]"),
    ("Sqrt", (ints(1),), {}, "takes floating-point numbers, not int32"),
    ("Neg", (np.array([True]),), {}, "takes numbers, not bool"),
    ("LogicalNot", (zeros(2),), {}, "takes bool, not float32"),
    ("MatMul", (zeros(2, 3), zeros(2, 3)), {}, "Dimensions must be equal, but are 3 and 2"),
    ("MatMul", (zeros(2), zeros(2, 3)), {}, "Shape must be rank 2 but is rank 1"),
    ("BiasAdd", (zeros(2, 3), zeros(2)), {}, r"needs equal shapes, not \[3\] and \[2\]"),
    ("BiasAdd", (zeros(3), zeros(3)), {}, "rank 2 or more"),
    (
        "Sum",
        (zeros(2, 3), ints(2)),
        {},
        r"Invalid reduction dimension \(?2 for input with 2 dimension",
    ),
    ("Reshape", (zeros(2, 3), ints(4)), {}, "tensor with 6 values, but the requested shape has 4"),
    ("Reshape", (zeros(2, 3), ints(4, -1)), {}, "requires a multiple of 4"),
    ("Reshape", (zeros(2, 3), ints(-1, -1)), {}, "Only one input size may be -1, not both 0 and 1"),
    ("Transpose", (zeros(2, 3), ints(0, 0)), {}, r"1 is missing from \{0,0\}."),
    (
        "ExpandDims",
        (zeros(2), np.int32(3)),
        {},
        "Tried to expand dim index 3 for tensor with 1 dimensions",
    ),
    ("Squeeze", (zeros(2, 1),), {"squeeze_dims": (0,)}, r"Can not squeeze dim\[0\]"),
    ("Tile", (zeros(2, 3), ints(2)), {}, "a vector of length 2 but got length 1"),
    (
        "ConcatV2",
        (zeros(2, 3), zeros(3, 2), np.int32(0)),
        {},
        "Dimension 1 in both shapes must be equal",
    ),
    ("Pack", (zeros(2), zeros(3)), {"axis": 0}, "Shapes of all inputs must match"),
    ("Unpack", (zeros(2),), {"num": 3}, r"axis 0 must equal 3, got shape \[2\]"),
    ("Slice", (zeros(3), ints(4), ints(0)), {}, r"Expected begin\[0\] in \[0, 3\], but got 4"),
    ("StridedSlice", (zeros(3), ints(0), ints(2), ints(0)), {}, r"strides\[0\] must be non-zero"),
    ("StridedSlice", (zeros(3), ints(0, 0), ints(2, 2), ints(1, 1)), {}, "only 1 dims"),
    (
        "StridedSlice",
        (zeros(3), ints(5), ints(6), ints(1)),
        {"shrink_axis_mask": 1},
        "slice index 5 of dimension 0 out of bounds",
    ),
    ("GatherV2", (zeros(3), zeros(2), np.int32(0)), {}, "indices of element type int32 or int64"),
    ("GatherNd", (zeros(3), ints([0, 0])), {}, r"indices.shape\[-1\] must be <= params.rank"),
    ("Select", (np.array([True]), zeros(2), zeros(3)), {}, "needs equal shapes"),
    ("Select", (zeros(2), zeros(2), zeros(2)), {}, "a condition of element type bool"),
    ("Fill", (ints(2), zeros(2)), {}, "needs a scalar value"),
    ("Range", (np.int32(5), np.int32(3), np.int32(1)), {}, "start <= limit when delta > 0: 5/3"),
    ("Range", (np.int32(0), np.int32(3), np.int32(0)), {}, "Requires delta != 0"),
    ("SoftmaxCrossEntropyWithLogits", (zeros(2), zeros(3)), {}, "must be broadcastable"),
    ("Softmax", (np.float32(0),), {}, "logits must have >= 1 dimension"),
    ("AddN", (zeros(2), zeros(3)), {}, "needs equal shapes"),
    ("Mul", (zeros(2), ints(1)), {}, "needs inputs of one element type"),
]


@each_of(("type", "inputs", "attrs", "message"), STATIC)
def test_drawing_it_fails_at_the_node(type: str, inputs: Any, attrs: Any, message: str) -> None:
    builder = GraphBuilder()
    tensors = [builder.constant(x) for x in inputs]
    with pytest.raises(GradstepError, match=message) as caught:
        builder.op(type, *tensors, name="it", **attrs)
    assert caught.value.node == "it"


# The same, where the shapes are known only when values arrive.
RUNNING = [
    row
    for row in STATIC
    if row[0] in ("Sum", "Reshape", "Transpose", "ExpandDims", "Squeeze", "Tile", "Slice", "Range")
    or row[0] == "StridedSlice"
]


@each_of(("type", "inputs", "attrs", "message"), RUNNING)
def test_running_it_fails_with_the_same_words(
    type: str, inputs: Any, attrs: Any, message: str
) -> None:
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(inputs):
        value = np.asarray(value)
        tensors.append(builder.placeholder(f"in{index}", str(value.dtype), UNKNOWN))
        feeds[f"in{index}"] = value
    (y,) = builder.op(type, *tensors, **attrs)
    with pytest.raises(GradstepError, match=message):
        evaluate(builder.build(), [y.ref], feeds)


@pytest.mark.parametrize("type", ["FloorDiv", "FloorMod"])
def test_integer_division_by_zero(type: str) -> None:
    builder = GraphBuilder()
    y = builder.one(type, builder.constant(ints(1, 2)), builder.constant(ints(1, 0)))
    with pytest.raises(GradstepError, match="Integer division by zero"):
        evaluate(builder.build(), [y.ref])


def test_assigning_another_shape_fails() -> None:
    builder = GraphBuilder()
    v = builder.variable("v", shape=(2,))
    with pytest.raises(GradstepError, match="needs equal shapes"):
        builder.op("Assign", v, builder.constant([1.0, 2.0, 3.0]))
    with pytest.raises(GradstepError, match="the variable's type"):
        builder.op("Assign", v, builder.constant([1, 2]))
    new = builder.one("Assign", v, builder.constant([1.0, 2.0, 3.0]), validate_shape=False)
    assert new.shape == Shape((3,))


def test_assigning_another_type_to_a_resource_fails() -> None:
    builder = GraphBuilder()
    handle = builder.one("VarHandleOp", dtype=DType.FLOAT32, shape=Shape((2,)))
    with pytest.raises(GradstepError, match="the variable's type"):
        builder.op("AssignVariableOp", handle, builder.constant([1, 2]), dtype=DType.FLOAT32)
