"""What does not fit a convolution is refused in TensorFlow's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.interpret import evaluate
from tests.support.windows import STILL, explicit, ints


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


X, W, G = zeros(1, 5, 5, 2), zeros(3, 3, 2, 4), zeros(1, 3, 3, 4)
CONV, DEPTHWISE = "Conv2D", "DepthwiseConv2dNative"
BACK, BACK_PLANES = "Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"
FILTER = "Conv2DBackpropFilter"
SIZE = "Size of out_backprop doesn't match computed: actual = 2, computed = 3 spatial_dim: 1 "
# Type, inputs, attributes besides strides of 1 and VALID padding, TensorFlow 2.21's words.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    (CONV, (zeros(5, 5, 2), W), {}, "Shape must be rank 4 but is rank 3"),
    (CONV, (X, zeros(3, 3, 2)), {}, "Shape must be rank 4 but is rank 3"),
    (
        CONV,
        (zeros(1, 5, 5, 3), W),
        {},
        "Depth of input (3) is not a multiple of input depth of filter (2)",
    ),
    (
        CONV,
        (zeros(1, 5, 5, 4), zeros(3, 3, 2, 3)),
        {},
        "Depth of output (3) is not a multiple of the number of groups (2)",
    ),
    (CONV, (X, zeros(3, 3, 0, 4)), {}, "Depth of filter must not be 0"),
    (CONV, (X, zeros(0, 3, 2, 4)), {}, "filter must not have zero elements (i.e. all dimensions"),
    (
        CONV,
        (zeros(1, 2, 2, 2), W),
        {},
        "Negative dimension size caused by subtracting 3 from 2",
    ),
    (
        CONV,
        (X, W),
        {"dilations": (1, 3, 3, 1)},
        "Negative dimension size caused by subtracting 7 from 5",
    ),
    (
        CONV,
        (X, W),
        {"strides": (1, 1)},
        "Conv2D on data format NHWC requires the stride attribute to contain 4 values, but got: 2",
    ),
    (CONV, (X, W), {"strides": (1, 0, 1, 1)}, "Stride must be > 0, but got 0"),
    (
        CONV,
        (X, W),
        {"strides": (2, 1, 1, 1)},
        "Current implementation does not yet support strides in the batch and depth dimensions.",
    ),
    (
        CONV,
        (X, W),
        {"dilations": (1, 1)},
        "Conv2D requires the dilation attribute to contain 4 values, but got: 2",
    ),
    (CONV, (X, W), {"dilations": (1, 0, 1, 1)}, "Dilation rate must be >= 1, but got 0"),
    (
        CONV,
        (X, W),
        {"dilations": (1, 1, 1, 2)},
        "Current implementation does not yet support dilations in the batch and depth dimensions.",
    ),
    (
        CONV,
        (X, W),
        {"padding": "EXPLICIT"},
        "explicit_paddings attribute must contain 8 values, but got: 0",
    ),
    (
        CONV,
        (X, W),
        explicit(0, 0, -1, 0, 0, 0, 0, 0),
        "All elements of explicit_paddings must be nonnegative",
    ),
    (
        CONV,
        (X, W),
        explicit(1, 0, 0, 0, 0, 0, 0, 0),
        "Nonzero explicit padding in the batch or depth dimensions is not supported",
    ),
    (
        CONV,
        (X, W),
        {"explicit_paddings": (0, 0, 1, 1, 1, 1, 0, 0)},
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT",
    ),
    (CONV, (X, W), {"strides": (1, 1.5, 1, 1)}, "'strides' must be a list of whole numbers"),
    (CONV, (X, W), {"data_format": "NHCW"}, "'NHCW', which is not one of 'NHWC', 'NCHW'"),
    (CONV, (X.astype("i8"), W.astype("i8")), {}, "floating-point numbers or int32, not int64"),
    (CONV, (X, W.astype("f8")), {}, "inputs of one element type, not float32 and float64"),
    (DEPTHWISE, (X, zeros(3, 3, 3, 2)), {}, "Dimensions must be equal, but are 2 and 3"),
    (DEPTHWISE, (X.astype("i4"), W.astype("i4")), {}, "floating-point numbers, not int32"),
    (
        DEPTHWISE,
        (X, W),
        {"strides": (1, 1, 2, 1)},
        "Current implementation only supports equal length strides in the row and column "
        "dimensions.",
    ),
    (
        BACK,
        (ints(5, 5, 2), W, G),
        {},
        "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: 3",
    ),
    (BACK, (ints(1, -5, 5, 2), W, G), {}, "Dimension -5 must be >= 0"),
    (
        BACK,
        (ints(1, 5, 5, 2), W, zeros(1, 2, 3, 4)),
        {},
        f"Conv2DCustomBackpropInput: {SIZE}input: 5 filter: 3 output: 2 stride: 1 dilation: 1",
    ),
    (
        BACK,
        (ints(1, 5, 5, 2), W, zeros(1, 3, 3, 5)),
        {},
        "Conv2DCustomBackpropInput: filter and out_backprop must have the same out_depth",
    ),
    (
        BACK,
        (ints(2, 5, 5, 2), W, G),
        {},
        "Conv2DCustomBackpropInput: input and out_backprop must have the same batch size. "
        "Input batch: 2, outbackprop batch: 1, batch_dim: 0",
    ),
    (
        FILTER,
        (X, ints(3, 3, 2, 4), zeros(1, 2, 3, 4)),
        {},
        f"Conv2DCustomBackpropFilter: {SIZE}input: 5 filter: 3 output: 2 stride: 1 dilation: 1",
    ),
    (FILTER, (X, ints(3, -3, 2, 4), G), {}, "Dimension -3 must be >= 0"),
    (FILTER, (X, ints(3, 3, 2), G), {}, "Shape must be rank 4 but is rank 3"),
    (
        BACK_PLANES,
        (ints(1, 5, 5, 2), zeros(3, 3, 2, 2), zeros(1, 3, 2, 4)),
        {},
        "DepthwiseConv2DBackpropInput: Number of cols of out_backprop doesn't match computed: "
        "actual = 2, computed = 3",
    ),
    (
        BACK_PLANES,
        (ints(1, 5, 5, 2), zeros(3, 3, 2, 2), zeros(1, 3, 3, 5)),
        {},
        "DepthwiseConv2DBackpropInput: depth_multiplier * in_depth not equal to out_depth",
    ),
    (BACK_PLANES, (ints(5, 5), zeros(3, 3, 2, 2), G), {}, "Shape must be rank 4 but is rank 2"),
]


@each_of(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_does_not_fit_is_refused(type: str, inputs: Any, attrs: Any, words: str) -> None:
    builder = GraphBuilder()
    tensors = [builder.constant(x) for x in inputs]
    with pytest.raises(GradstepError) as caught:
        builder.op(type, *tensors, name="it", **{"strides": STILL, "padding": "VALID", **attrs})
    assert words in caught.value.message
    assert caught.value.node == "it"


SIZES_THAT_MISFIT = [row for row in REFUSED if not row[2] and row[1][0].dtype != np.int64][:7] + [
    row for row in REFUSED if row[0] in (BACK, FILTER, BACK_PLANES)
]


@each_of(("type", "inputs", "attrs", "words"), SIZES_THAT_MISFIT)
def test_it_is_refused_with_the_same_words_when_running(
    type: str, inputs: Any, attrs: Any, words: str
) -> None:
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(inputs):
        tensors.append(builder.placeholder(f"in{index}", str(value.dtype)))
        feeds[f"in{index}"] = value
    (y,) = builder.op(type, *tensors, strides=STILL, padding="VALID", **attrs)
    with pytest.raises(GradstepError) as caught:
        evaluate(builder.build(), [y.ref], feeds)
    assert words in caught.value.message
