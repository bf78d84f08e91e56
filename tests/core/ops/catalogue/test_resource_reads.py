"""Reads of parts of a resource variable, their gradients, and counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices

X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def i32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def variable(b: GraphBuilder, resource: bool, start: np.ndarray) -> Tensor:
    kind = {"dtype": DType.of(start.dtype), "shape": Shape(start.shape)}
    return b.one("VarHandleOp" if resource else "VariableV2", name="v", **kind)


def test_rows_of_a_resource_variable() -> None:
    """Values and error texts of TensorFlow 2.21."""
    b = GraphBuilder()
    v = variable(b, True, X)
    at = b.placeholder("at", "int32")
    b.one("ResourceGather", v, at, dtype=DType.FLOAT32, name="rows")
    session = Session(b.build(), initial={"v": X})
    assert session.run(["rows"], {"at": [0, 2, 0]})[0].tolist() == [[1, 2], [5, 6], [1, 2]]
    assert session.run(["rows"], {"at": 1})[0].tolist() == [3, 4]
    with pytest.raises(GradstepError, match=r"indices\[1\] = 3 is not in \[0, 3\)"):
        session.run(["rows"], {"at": [0, 3]})


@pytest.mark.parametrize("known", [True, False])
def test_the_gradient_of_taken_rows_is_rows(known: bool) -> None:
    b = GraphBuilder()
    shape = Shape((3, 2)) if known else Shape((None, 2))
    v = b.one("VarHandleOp", name="v", dtype=DType.FLOAT32, shape=shape)
    at = b.placeholder("at", "int32", (2, 2))
    rows = b.one("ResourceGather", v, at, dtype=DType.FLOAT32)
    points = b.one("ResourceGatherNd", v, i32([2, 1], [0, 0]), dtype=DType.FLOAT32)
    (one,), (other,) = gradients(rows, v), gradients(points, v)
    assert isinstance(one, IndexedSlices)
    assert isinstance(other, Tensor)
    session = Session(b.build(), initial={"v": X})
    values, indices, dense = session.run(
        [one.values.ref, one.indices.ref, other.ref], {"at": [[0, 2], [1, 0]]}
    )
    assert values.tolist() == [[1, 1]] * 4
    assert indices.tolist() == [0, 2, 1, 0]
    assert dense.tolist() == [[1, 0], [0, 0], [0, 1]]


def test_batched_rows_have_no_gradient() -> None:
    b = GraphBuilder()
    v = variable(b, True, X)
    rows = b.one("ResourceGather", v, i32([0], [1], [0]), dtype=DType.FLOAT32, batch_dims=1)
    with pytest.raises(GradstepError, match="batch_dims is not defined"):
        gradients(rows, v)


@pytest.mark.parametrize("resource", [False, True])
def test_counting_stops_at_the_limit(resource: bool) -> None:
    b = GraphBuilder()
    v = variable(b, resource, np.array(3, np.int32))
    extra = {"T": DType.INT32} if resource else {}
    b.op("ResourceCountUpTo" if resource else "CountUpTo", v, name="n", limit=5, **extra)
    session = Session(b.build(), initial={"v": np.array(3, np.int32)})
    assert [session.run(["n"])[0].item() for _ in range(2)] == [3, 4]
    with pytest.raises(GradstepError, match="Reached limit of 5") as caught:
        session.run(["n"])
    assert caught.value.kind == "OutOfRangeError"
    assert session.store["v"].item() == 5
