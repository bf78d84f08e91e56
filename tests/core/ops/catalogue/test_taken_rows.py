"""Gradients of gathers: rows where TensorFlow has rows, and where little is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

X = np.array([[3, 1, 2], [5, 4, 9], [3, 3, 0]], np.float32)


def _through_concat(axis: int, shape: Shape) -> tuple[Any, Any]:
    """Rows taken from two joined matrices: values and rows of each one's gradient."""
    builder = GraphBuilder()
    with builder.as_default():
        a, b = (builder.placeholder(name, "float32", shape) for name in "ab")
        y = tf.gather(tf.concat([a, b], axis), np.array([1, 0, 1], np.int32))
        loss = tf.reduce_sum(y * 2.0)
    found = differentiate(builder.build(), GradientRequest((loss.ref,), (a.ref, b.ref)))
    rows = [found.slices[t.ref] for t in (a, b)]
    refs = [ref for r in rows for ref in (r.values, r.indices)]
    feeds = {"a": np.ones((1, 2), np.float32), "b": np.ones((1, 2), np.float32)}
    values = Session(found.graph).run(refs, feeds)
    return values[0::2], values[1::2]


@pytest.mark.parametrize("shape", [Shape((1, 2)), UNKNOWN])
def test_rows_of_joined_tensors_stay_rows_of_each(shape: Shape) -> None:
    values, indices = _through_concat(0, shape)
    assert [i.tolist() for i in indices] == [[0], [0, 0]]
    assert [v.tolist() for v in values] == [[[2, 2]], [[2, 2]] * 2]


def test_rows_of_tensors_side_by_side_are_cut() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        a, b = (builder.placeholder(n, "float32", (2, w)) for n, w in (("a", 1), ("b", 2)))
        y = tf.gather(tf.concat([a, b], -1), np.array([1, 1], np.int32))
        loss = tf.reduce_sum(y * np.float32([1, 2, 3]))
    found = differentiate(builder.build(), GradientRequest((loss.ref,), (a.ref, b.ref)))
    refs = [found.slices[t.ref].values for t in (a, b)]
    feeds = {"a": np.ones((2, 1), np.float32), "b": np.ones((2, 2), np.float32)}
    values = Session(found.graph).run(refs, feeds)
    assert [v.tolist() for v in values] == [[[1]] * 2, [[2, 3]] * 2]


def test_whole_rows_taken_by_vectors_of_one_index_stay_rows() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (3, 2))
    y = builder.one("GatherNd", x, np.array([[2], [0]], np.int32))
    found = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    rows = Session(found.graph).run([found.slices[x.ref].indices], {"x": np.ones((3, 2), "f4")})
    assert rows[0].tolist() == [2, 0]


def test_a_gather_from_fed_axes_has_a_gradient() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", UNKNOWN)
    axis = builder.placeholder("axis", "int32", ())
    y = builder.one("GatherV2", x, np.array([2, 0, 2], np.int32), axis)
    found = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    session = Session(found.graph)
    for at in (0, 1, -1):
        (result,) = session.run([found.gradients[x.ref]], {"x": X, "axis": np.int32(at)})
        wanted = np.array([1, 0, 2]) * np.ones((3, 3))
        np.testing.assert_array_equal(result, wanted.T if at == 0 else wanted)


def test_shared_axes_counted_from_behind_need_a_known_rank() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (2, 3))
    at = builder.placeholder("at", "int32", UNKNOWN)
    y = builder.one("GatherV2", x, at, np.int32(1), batch_dims=-1)
    with pytest.raises(
        GradstepError, match="batch_dims < 0 and the rank of the indices is unknown"
    ):
        differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
