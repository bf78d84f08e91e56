"""`tf`'s functions that cut, pick and group: TensorFlow 2.21's values and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import UNKNOWN, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.each_case import each_of

X = np.array([[3, 1, 2], [5, 4, 9], [3, 3, 0]], np.float32)
IDS = np.array([0, 2, 0], np.int32)
ONES = np.ones((3, 3)).tolist()
Function = Callable[[Tensor], Tensor]

# the function of X, its value, the gradient of its sum; TensorFlow 2.21 computed them
CASES: dict[str, tuple[Function, Any, Any]] = {
    "sort": (lambda x: tf.sort(x), [[1, 2, 3], [4, 5, 9], [0, 3, 3]], ONES),
    "sort columns": (
        lambda x: tf.sort(x, axis=0, direction="DESCENDING"),
        [[5, 4, 9], [3, 3, 2], [3, 1, 0]],
        ONES,
    ),
    "argsort": (lambda x: tf.argsort(x), [[1, 2, 0], [1, 0, 2], [2, 0, 1]], None),
    "top_k": (
        lambda x: tf.nn.top_k(x, 2).values,
        [[3, 2], [9, 5], [3, 3]],
        [[1, 0, 1], [1, 0, 1], [1, 1, 0]],
    ),
    "split": (lambda x: tf.split(x, 3)[1], [[5, 4, 9]], [[0] * 3, [1] * 3, [0] * 3]),
    "split to sizes": (
        lambda x: tf.split(x, [1, -1], axis=1)[0],
        [[3], [5], [3]],
        [[1, 0, 0]] * 3,
    ),
    "pad": (
        lambda x: tf.pad(tf.slice(x, [0, 0], [1, 2]), [[0, 0], [1, 0]], constant_values=7.0),
        [[7, 3, 1]],
        [[1, 1, 0], [0] * 3, [0] * 3],
    ),
    "pad with a mirror": (
        lambda x: tf.pad(tf.slice(x, [0, 0], [1, 3]), [[0, 0], [2, 0]], mode="reflect"),
        [[2, 1, 3, 1, 2]],
        [[1, 2, 2], [0] * 3, [0] * 3],
    ),
    "boolean_mask": (
        lambda x: tf.boolean_mask(x, [True, False, True]),
        [[3, 1, 2], [3, 3, 0]],
        [[1] * 3, [0] * 3, [1] * 3],
    ),
    "boolean_mask of columns": (
        lambda x: tf.boolean_mask(x, [False, False, True], axis=1),
        [[2], [9], [0]],
        [[0, 0, 1]] * 3,
    ),
    "unsorted_segment_mean": (
        lambda x: tf.unsorted_segment_mean(x, IDS, 4),
        [[3, 2, 1], [0] * 3, [5, 4, 9], [0] * 3],
        [[0.5] * 3, [1] * 3, [0.5] * 3],
    ),
    "unsorted_segment_sqrt_n": (
        lambda x: tf.square(tf.unsorted_segment_sqrt_n(x, IDS, 3)),
        [[18, 8, 2], [0] * 3, [25, 16, 81]],
        [[6, 4, 2], [10, 8, 18], [6, 4, 2]],
    ),
    "reverse": (lambda x: tf.reverse(x, axis=[1]), X[:, ::-1].tolist(), ONES),
    "reverse_sequence": (
        lambda x: tf.reverse_sequence(x, [2, 3, 1], seq_axis=1),
        [[1, 3, 2], [9, 4, 5], [3, 3, 0]],
        ONES,
    ),
    "roll": (lambda x: tf.roll(x, shift=1, axis=0), [[3, 3, 0], [3, 1, 2], [5, 4, 9]], ONES),
    "dynamic_partition": (
        lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[1],
        [[5, 4, 9]],
        [[0] * 3, [1] * 3, [0] * 3],
    ),
    "dynamic_stitch": (
        lambda x: tf.dynamic_stitch([[0, 2], [1]], [tf.gather(x, [0, 1]), tf.gather(x, [2])]),
        [[3, 1, 2], [3, 3, 0], [5, 4, 9]],
        ONES,
    ),
    "gather with batch_dims": (
        lambda x: tf.gather(x, [[0, 1], [2, 2], [1, 0]], batch_dims=1),
        [[3, 1], [9, 9], [3, 3]],
        [[1, 1, 0], [0, 0, 2], [1, 1, 0]],
    ),
    "tensor_scatter_nd_update": (
        lambda x: tf.tensor_scatter_nd_update(x, [[1]], [[7.0, 8.0, 9.0]]),
        [[3, 1, 2], [7, 8, 9], [3, 3, 0]],
        [[1] * 3, [0] * 3, [1] * 3],
    ),
    "setdiff1d": (
        lambda x: tf.cast(tf.setdiff1d(tf.reshape(x, [-1]), [3.0])[1], "float32"),
        [1, 2, 3, 4, 5, 8],
        None,
    ),
    "bincount": (lambda x: tf.bincount(tf.cast(x, "int32"), maxlength=4), [1, 1, 1, 3], None),
    "histogram_fixed_width": (
        lambda x: tf.histogram_fixed_width(x, [0.0, 10.0], nbins=5),
        [2, 4, 2, 0, 1],
        None,
    ),
    "in_top_k": (lambda x: tf.nn.in_top_k(x, [0, 1, 1], 2), [True, False, True], None),
    "space_to_depth": (
        lambda x: tf.nn.space_to_depth(tf.reshape(x[:2, :2], [1, 2, 2, 1]), 2),
        [[[[3, 1, 5, 4]]]],
        [[1, 1, 0], [1, 1, 0], [0, 0, 0]],
    ),
    "transpose": (lambda x: tf.transpose(x), X.T.tolist(), ONES),
    "size": (lambda x: tf.size(x, out_type="int64"), 9, None),
    "ensure_shape": (lambda x: tf.ensure_shape(x, [None, 3]), X.tolist(), ONES),
    "strided_slice": (
        lambda x: tf.strided_slice(x, [0, 1], [2, 3]),
        [[1, 2], [4, 9]],
        [[0, 1, 1], [0, 1, 1], [0] * 3],
    ),
}


@each_of("shape", [Shape((3, 3)), UNKNOWN])
@each_of("name", CASES)
def test_values_and_gradients_are_tensorflows(name: str, shape: Shape) -> None:
    function, value, slope = CASES[name]
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", "float32", shape)
        y = function(x)
    found = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    session = Session(found.graph)
    np.testing.assert_allclose(session.run([y.ref], {"x": X})[0], value, rtol=1e-6)
    assert (x.ref in found.gradients) == (slope is not None)
    if slope is not None:
        (result,) = session.run([found.gradients[x.ref]], {"x": X})
        np.testing.assert_allclose(result, slope, rtol=1e-6)


def run(make: Callable[[], Any]) -> list[Any]:
    """Values of tensors made of constants alone."""
    builder = GraphBuilder()
    with builder.as_default():
        made = make()
    tensors = made if isinstance(made, list | tuple) else [made]
    return [x.tolist() for x in Session(builder.build()).run([t.ref for t in tensors])]


def test_integers_are_sorted_from_the_lowest_on() -> None:
    lowest = -(2**31)
    assert run(lambda: tf.sort(np.array([5, lowest, 0], np.int32))) == [[lowest, 0, 5]]
    assert run(lambda: tf.sort(np.array([3, 200, 7], np.uint8))) == [[3, 7, 200]]
    assert run(lambda: tf.argsort(np.array([3, 200, 3], np.uint8))) == [[0, 2, 1]]


def test_a_grid_has_rows_and_columns_as_on_a_page_or_as_in_an_index() -> None:
    across, down = [1.0, 2.0, 3.0], [4.0, 5.0]
    assert run(lambda: tf.meshgrid(across, down)) == [[across] * 2, [[4.0] * 3, [5.0] * 3]]
    found = run(lambda: tf.meshgrid(across, down, indexing="ij"))
    assert found == [[[a] * 2 for a in across], [down] * 3]
    assert run(lambda: tf.meshgrid(down)) == [down]
    assert tf.meshgrid() == []


def test_a_grid_of_fed_axes_is_a_scope_of_its_own() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (None,))
    with builder.as_default():
        first, second = tf.meshgrid(x, [1.0, 2.0])
    assert {t.op.name.partition("/")[0] for t in (first, second)} == {"meshgrid"}
    values = Session(builder.build()).run([first.ref, second.ref], {"x": np.float32([7, 8, 9])})
    assert [v.shape for v in values] == [(2, 3), (2, 3)]


@each_of(
    ("make", "words"),
    [
        (lambda x: tf.meshgrid(x, indexing="yx"), "must be either 'xy' or 'ij', got 'yx'"),
        (lambda x: tf.pad(x, [[0, 0]], mode="wrap"), "CONSTANT, REFLECT, or SYMMETRIC"),
        (lambda x: tf.sort(x, direction="UP"), "ASCENDING, DESCENDING. Received: direction=UP"),
        (lambda x: tf.boolean_mask(x, True), "mask cannot be scalar."),
        (lambda x: tf.where(x > 0.0, x), "must both be non-None or both be None"),
        (lambda x: tf.unstack(x), "Cannot infer argument `num` from shape"),
        (lambda x: tf.reverse_sequence(x, [1]), "needs seq_axis"),
    ],
)
def test_wrong_arguments_are_said_in_tensorflows_words(make: Any, words: str) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (None,))
    with builder.as_default(), pytest.raises(ValueError, match=words):
        make(x)


def test_ops_take_their_inputs_by_name() -> None:
    assert run(lambda: tf.reverse(tensor=[1, 2], axis=[0])) == [[2, 1]]
    assert run(lambda: tf.roll([1, 2, 3], axis=0, shift=1)) == [[3, 1, 2]]
    with pytest.raises(TypeError, match=r"roll\(\) got an unexpected argument 'far'; it takes"):
        run(lambda: tf.roll([1, 2, 3], far=1))
