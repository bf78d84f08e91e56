"""tf.TensorArray as a program uses it: writing, reading, and gradients through loops around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.tensor import Tensor
from tests.support import tensorflow_graphs


@pytest.mark.parametrize("fast", [False, True])
def test_the_class_as_tensorflow_has_it(fast: bool) -> None:
    """Two runs, as arrays begin empty in each; gradients of two computations keep apart."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=(3, 2))
        rows = tf.TensorArray(tf.float32, size=3).unstack(x)
        made = tf.TensorArray("float32", size=0, dynamic_size=True)
        for i in range(3):
            made = made.write(i, rows.read(i) * float(i + 1))
        y, count = made.stack(), made.size()
        assert y.shape.dims is not None
        assert y.shape.dims[1] == 2
        split = tf.TensorArray("float32", size=2, infer_shape=False).split(x, [1, 2])
        joined = split.concat() * x
        (dx,), (dx_again,), (dj,) = gradients(y, [x]), gradients(y, [x]), gradients(joined, [x])
        with pytest.raises(GradstepError, match="Inconsistent shapes: saw"):
            made.write(3, np.float32([1, 2, 3]))
        with pytest.raises(GradstepError, match="Size must be provided"):
            tf.TensorArray("float32")
    session = Session(builder.build(), fast=fast)
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    weights = np.float32([[1, 1], [2, 2], [3, 3]])
    for _ in range(2):
        found = session.run([y.ref, count.ref, dx.ref, dx_again.ref, dj.ref], {"x": value})
        for one, expected in zip(
            found, (value * weights, 3, weights, weights, 2 * value), strict=True
        ):
            np.testing.assert_array_equal(one, expected)


def _rows_of_rows(x: Tensor) -> Tensor:
    return tf.map_fn(lambda row: tf.map_fn(lambda e: e * e * tf.reduce_sum(row), row), x)


def _pieces(x: Tensor, lengths: Tensor) -> Tensor:
    count = tf.size(lengths)
    pieces = tf.TensorArray(tf.float32, count, infer_shape=False).split(x, lengths)
    out = tf.TensorArray(tf.float32, count, infer_shape=False)

    def body(i: Tensor, out: Any) -> Any:
        return i + 1, out.write(i, pieces.read(i) * tf.cast(i + 1, tf.float32))

    return tf.while_loop(lambda i, out: i < count, body, [0, out])[1].concat()


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    ("name", "build"),
    [("map_fn_nested", _rows_of_rows), ("tensor_array_split_concat", _pieces)],
)
def test_gradients_through_loops(name: str, build: Callable[..., Tensor], fast: bool) -> None:
    """Arrays that an iteration makes, and arrays that it reads and writes from outside, have
    TensorFlow's gradients."""
    step = next(tensorflow_graphs.steps(name))
    builder = GraphBuilder()
    with builder.as_default():
        inputs = [
            builder.placeholder(ref.removesuffix(":0"), str(value.dtype), (None,) * value.ndim)
            for ref, value in step.feeds.items()
        ]
        y = build(*inputs)
        (dx,) = gradients(y, [inputs[0]])
    found = Session(builder.build(), fast=fast).run([y.ref, dx.ref], step.feeds)
    for value, expected in zip(found, (step.fetches["y:0"], step.fetches["dx:0"]), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
