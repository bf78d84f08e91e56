"""What comes back from a loop to what it reads from outside, and which of it: as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices

ZEROS = np.zeros(2)
TABLE = np.arange(8.0).reshape(4, 2)


def repeated(count: int, body: Callable[[Tensor, Tensor], Tensor], start: object = ZEROS) -> Tensor:
    return tf.while_loop(lambda i, a: i < count, lambda i, a: (i + 1, body(i, a)), (0, start))[1]


def nested(x: Tensor) -> Tensor:
    return repeated(
        2, lambda i, a: repeated(2, lambda j, b: b * np.float64(1.5) + tf.gather(x, i + j), a)
    )


def in_branches(x: Tensor) -> Tensor:
    def body(i: Tensor, a: Tensor) -> Tensor:
        return tf.cond(tf.equal(i, 1), lambda: a + tf.gather(x, i), lambda: a)

    return repeated(3, body)


def of_matrix(x: Tensor) -> Tensor:
    def body(i: Tensor, a: Tensor) -> Tensor:
        return a + tf.reduce_sum(tf.gather(x, tf.stack([tf.stack([0, 1]), tf.stack([1, i])])))

    return repeated(2, body)


# What TensorFlow 2.21 gives (v1 mode): each row's number, and its elements, which are all the same.
ROWS: list[tuple[Callable[[Tensor], Tensor], list[int], list[float]]] = [
    (lambda x: repeated(3, lambda i, a: a + tf.gather(x, i)), [0, 2, 1, 0], [0, 1, 1, 1]),
    (lambda x: repeated(0, lambda i, a: a + tf.gather(x, i)), [0], [0]),
    (
        lambda x: repeated(2, lambda i, a: a + tf.gather(x, i)) + tf.gather(x, 3),
        [3, 0, 1, 0],
        [1, 0, 1, 1],
    ),
    (nested, [0, 0, 2, 1, 0, 1, 0], [0, 0, 1, 1.5, 0, 2.25, 3.375]),
    (in_branches, [0, 0, 1, 2, 3, 1, 0, 1, 2, 3], [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
    (of_matrix, [0, 0, 1, 1, 1, 0, 1, 1, 0], [0, 2, 2, 2, 2, 2, 2, 2, 2]),
]


@pytest.mark.parametrize(("program", "indices", "values"), ROWS)
@pytest.mark.parametrize("shape", [(4, 2), (None, None)])
def test_rows_that_a_loop_takes_have_gradients_of_rows(
    program: Callable[[Tensor], Tensor],
    indices: list[int],
    values: list[float],
    shape: tuple[int | None, ...],
) -> None:
    """All of them one after the other, after a row of zeros for row 0."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", "float64", shape)
        (found,) = gradients(program(x), x)
        assert isinstance(found, IndexedSlices)
        parts = [found.values, found.indices, found.dense()]
    rows, numbers, whole = Session(builder.build()).run([p.ref for p in parts], {"x": TABLE})
    assert numbers.tolist() == indices
    np.testing.assert_array_equal(rows, np.outer(values, [1, 1]))
    assert whole.shape == TABLE.shape


def test_an_output_that_leads_nowhere_has_zeros_where_others_lead_on() -> None:
    """An Exit, as TensorFlow has it; and None where the loop leads nowhere at all."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", "float64", [])
        _, one, other, count = tf.while_loop(
            lambda i, *_: i < 3, lambda i, a, b, n: (i + 1, a * a, b + a, n + 1), (0, x, x, 0)
        )
        found = gradients(one, [other, count, x])
        assert [g is None for g in found] == [False, True, False]
        assert gradients(one, [other]) == gradients(tf.square(x), [other]) == [None]
        refs = [g.ref for g in found if isinstance(g, Tensor)]
    assert Session(builder.build()).run(refs, {"x": 2.0}) == [0.0, 8.0 * 2.0**7]


def test_only_what_would_go_back_through_a_way_back_is_refused() -> None:
    """Of two variables that go round in one loop, only the one leads to what is differentiated."""
    builder = GraphBuilder()
    with builder.as_default():
        x, c = (builder.placeholder(name, "float64", []) for name in "xc")
        _, y, _ = tf.while_loop(
            lambda i, *_: i < 3, lambda i, a, b: (i + 1, a * c, b * x), (0, c, x)
        )
        (slope,) = gradients(tf.square(y), c)
        assert isinstance(slope, Tensor)
        assert gradients(slope, x) == [None]
        with pytest.raises(GradstepError, match="Second-order gradient for while loops"):
            gradients(slope, c)
