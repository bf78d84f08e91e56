"""`x[…]` on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.build.builder import GraphBuilder

X = np.array([[3, 1, 2], [5, 4, 9], [3, 3, 0]], np.float32)


@pytest.mark.parametrize(
    "index",
    [
        1,
        -1,
        (slice(None), 0),
        (slice(1, None), slice(None, None, -1)),
        (..., slice(0, 2)),
        (None, 2, ..., None),
        (slice(2, 0, -1), np.int64(1)),
    ],
)
def test_tensors_are_sliced_as_arrays_are(index: Any) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (3, 3))
    y = x[index]
    assert (y.op.type, y.shape) == ("StridedSlice", Shape(X[index].shape))
    np.testing.assert_array_equal(Session(builder.build()).run([y.ref], {"x": X})[0], X[index])


def test_a_tensor_can_say_which_element() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (3, 3))
    at = builder.placeholder("at", "int32", ())
    rows, element = x[at:, 1], x[at, at]
    session = Session(builder.build())
    found = session.run([rows.ref, element.ref], {"x": X, "at": np.int32(2)})
    assert [v.tolist() for v in found] == [[3], 0]


@pytest.mark.parametrize("index", [1.5, "a", [0, 1], np.array([True, False, True])])
def test_what_is_no_index_is_refused(index: Any) -> None:
    x = GraphBuilder().placeholder("x", "float32", (3, 3))
    with pytest.raises(TypeError, match="Only integers, slices"):
        x[index]


def test_tensors_are_not_iterable() -> None:
    x = GraphBuilder().placeholder("x", "float32", (3, 3))
    with pytest.raises(TypeError, match=r"not iterable while the graph is built; tf\.unstack"):
        list(x)
