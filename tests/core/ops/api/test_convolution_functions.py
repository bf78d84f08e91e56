"""tf.nn.conv2d and its relatives: the ops that TensorFlow makes of them, and their arguments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, call
from tests.support.interpret import evaluate
from tests.support.windows import STILL, explicit, numbers, pattern, run

W = np.zeros((3, 3, 2, 4), np.float32)


def built(build: Any, *inputs: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The operations that a function makes of tensors, without constants, and its value."""
    builder = GraphBuilder()
    with builder.as_default():
        tensors = [builder.constant(x) for x in inputs]
        y = build(*tensors)
    graph = builder.build()
    made = [f"{n}:{graph[n].type}" for n in graph.order if graph[n].type != "Const"]
    return made, evaluate(graph, [y.ref])[0]


def test_conv1d_is_a_convolution_of_one_row() -> None:
    """TensorFlow 2.21 computed the numbers and chose the names."""
    x, w = pattern((2, 5, 2), 11), pattern((3, 2, 1), 5)
    made, y = built(lambda x, w: tf.nn.conv1d(x, w, 2, "SAME"), x, w)
    assert y.reshape(-1).tolist() == numbers("6 14 -20 -8 7 6")
    assert made == [
        "conv1d/ExpandDims:ExpandDims",
        "conv1d/ExpandDims_1:ExpandDims",
        "conv1d:Conv2D",
        "conv1d/Squeeze:Squeeze",
    ]
    first = np.ascontiguousarray(np.moveaxis(x, -1, 1))
    _, again = built(lambda x, w: tf.nn.conv1d(x, w, 2, "SAME", data_format="NCW"), first, w)
    assert np.array_equal(np.moveaxis(again, 1, -1), y)


def test_separable_conv2d() -> None:
    """TensorFlow 2.21 computed the numbers and chose the names."""
    made, y = built(
        lambda x, d, p: tf.nn.separable_conv2d(x, d, p, STILL, "VALID"),
        pattern((1, 3, 3, 2), 11),
        pattern((2, 2, 2, 1), 5),
        pattern((1, 1, 2, 2), 5),
    )
    assert y.reshape(-1).tolist() == numbers("4 -34 -2 6 -3 -24 2 16")
    assert made == ["separable_conv2d/depthwise:DepthwiseConv2dNative", "separable_conv2d:Conv2D"]


def test_conv2d_transpose() -> None:
    """TensorFlow 2.21 computed the numbers."""
    made, y = built(
        lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 4, 4, 2], 2),
        pattern((1, 2, 2, 1), 11),
        pattern((3, 3, 2, 1), 5),
    )
    assert made == ["conv2d_transpose:Conv2DBackpropInput"]
    assert y.reshape(-1).tolist() == numbers(
        "-2 4 0 -4 7 -12 0 10 4 0 -4 2 -12 4 10 -5 1 -6 2 0 0 17 -5 -1 -2 0 2 -1 7 -2 -6 3"
    )


def test_conv2d_takes_its_numbers_in_several_forms() -> None:
    x, w = pattern((1, 5, 5, 2), 11), pattern((3, 3, 2, 4), 5)
    pads = [[0, 0], [1, 0], [0, 2], [0, 0]]
    forms = [
        lambda x, w: tf.nn.conv2d(x, w, 2, pads),
        lambda x, w: tf.nn.conv2d(x, w, [2], pads),
        lambda x, w: tf.nn.conv2d(x, w, (2, 2), pads),
        lambda x, w: tf.nn.conv2d(x, filters=w, strides=[1, 2, 2, 1], padding=pads),
        lambda x, w: call("Conv2D", x, w, strides=(1, 2, 2, 1), **explicit(0, 0, 1, 0, 0, 2, 0, 0)),
    ]
    values = [built(form, x, w)[1] for form in forms]
    assert all(np.array_equal(value, values[-1]) for value in values)


def test_depthwise_conv2d_takes_a_rate() -> None:
    x, w = pattern((1, 5, 5, 2), 11), pattern((2, 2, 2, 1), 5)
    made, y = built(lambda x, w: tf.nn.depthwise_conv2d(x, w, STILL, "SAME", rate=[2, 2]), x, w)
    attrs = {"strides": STILL, "padding": "SAME", "dilations": (1, 2, 2, 1)}
    assert made == ["depthwise:DepthwiseConv2dNative"]
    assert np.array_equal(y, run("DepthwiseConv2dNative", x, w, **attrs))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"strides": [1, 1, 1]}, "strides should be of length 1, 2 or 4"),
        ({"padding": "EXPLICIT"}, "'EXPLICIT' is not a valid value for `padding`"),
        ({"padding": [[0, 0], [1, 1]]}, "it must be of 4 pairs"),
        ({"filters": W}, "Exactly one of the arguments 'filter' and 'filters'"),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, Any], words: str) -> None:
    builder = GraphBuilder()
    x = builder.constant(np.zeros((1, 5, 5, 2), np.float32))
    with pytest.raises(ValueError, match=re.escape(words)):
        tf.nn.conv2d(x, W, **{"strides": 1, "padding": "SAME", **arguments})
