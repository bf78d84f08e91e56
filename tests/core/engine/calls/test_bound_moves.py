"""Taking tensors apart and joining them: copies between places that are found once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.feed_values import infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def made_by(build: GraphBuilder, y: Tensor, feeds: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """What two runs give, and the functions that are called for the last step."""
    fed = {TensorRef(name): value for name, value in feeds.items()}
    plan = compile_plan(build.build(), [y.ref], (), infer_fed_types(fed))
    recording = Recording(plan, NumpyBackend())
    found = []
    for factor in (1, 2):
        recording.feed({ref: x * x.dtype.type(factor) for ref, x in fed.items()})
        recording.begin({})
        assert recording.run(0, len(plan.steps)) == (len(plan.steps), None)
        where = plan.tensors[y.ref]
        assert isinstance(where, int)
        found.append(np.array(recording.value(where)))
    last = max(step for step, _ in recording.calls)
    names = [
        getattr(getattr(call, "func", call), "__name__", "")
        for step, call in recording.calls
        if step == last
    ]
    return found, names


def test_pieces_are_copied_from_where_they_are() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", X.shape)
    (once, twice), names = made_by(build, tf.split(x, 2, 0)[1], {"x": X})
    np.testing.assert_array_equal(once, X[2:])
    np.testing.assert_array_equal(twice, 2 * X[2:])
    assert names == ["copyto", "copyto"]


def test_joined_tensors_are_copied_to_where_they_belong() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", X.shape)
    (_, twice), names = made_by(build, tf.concat([x, x], 1), {"x": X})
    np.testing.assert_array_equal(twice, 2 * np.concatenate([X, X], 1))
    assert names == ["copyto", "copyto"]


def test_one_number_is_no_view_and_follows_its_tensor() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", X.shape)
    (once, twice), _ = made_by(build, x[1, 2], {"x": X})
    assert (once, twice) == (X[1, 2], 2 * X[1, 2])


def test_a_place_that_is_fed_is_looked_up_in_every_run() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", X.shape)
    begin = build.placeholder("begin", "int32", (2,))
    y = build.one("Slice", x, begin, build.constant(np.array([1, 3], np.int32)))
    (once, twice), names = made_by(build, y, {"x": X, "begin": np.array([1, 0], np.int32)})
    np.testing.assert_array_equal(once, X[1:2])
    np.testing.assert_array_equal(twice, 2 * X[2:3])
    assert names == ["_copy_one"]
