"""Indices outside their dimension: TensorFlow's words, and other systems' values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.system_rules import OutOfRange, Rules
from gradstep.core.ops.declare.table import lookup
from tests.support import oracle
from tests.support.each_case import each_of
from tests.support.interpret import call_kernel

VECTOR = np.arange(1, 6, dtype=np.int32)
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


def run(type: str, *inputs: Any, rules: Rules | None = None, **attrs: Any) -> np.ndarray:
    definition = lookup(type)
    operation = Operation(type, type, attrs=attrs)
    given = {} if rules is None else {"rules": rules}
    arrays = [np.asarray(x) for x in inputs]
    return np.asarray(call_kernel(definition, operation, arrays, **given)[0])


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


ERRORS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = {
    "tutorial: gather(a,[0,1,6])": ("GatherV2", (VECTOR, ints(0, 1, 6), 0), {}, (2,)),
    "gather_negative": ("GatherV2", (VECTOR, ints(0, -1), 0), {}, (1,)),
    "gather_scalar_index": ("GatherV2", (VECTOR, np.int32(5), 0), {}, ()),
    "gather_2d_indices": ("GatherV2", (VECTOR, ints([0, 1], [2, 9]), 0), {}, (1, 1)),
    "gather_axis1": ("GatherV2", (MATRIX, ints(0, 4), 1), {}, (1,)),
    "gather_batch_dims": (
        "GatherV2",
        (MATRIX, ints([0], [4], [1]), 1),
        {"batch_dims": 1},
        (1, 0),
    ),
    "gather_from_empty": ("GatherV2", (np.zeros((0, 2), np.float32), ints(0), 0), {}, (0,)),
    "gather_nd": ("GatherNd", (VECTOR, ints([0], [6])), {}, (1,)),
    "scatter_nd_oor": (
        "ScatterNd",
        (ints([1], [9]), np.ones(2, np.float32), ints(4)),
        {},
        (1,),
    ),
    "unsorted_segment_sum_oor": (
        "UnsortedSegmentSum",
        (np.ones(3, np.float32), ints(0, 1, 5), 2),
        {},
        (2,),
    ),
    "tf.slice_oor": ("Slice", (np.ones(3, np.float32), ints(2), ints(5)), {}, (0,)),
}


@each_of("row", ERRORS)
def test_error_says_what_tensorflow_says(row: str) -> None:
    type, inputs, attrs, index = ERRORS[row]
    with pytest.raises(GradstepError) as caught:
        run(type, *inputs, **attrs)
    recorded = oracle.case("gather_out_of_range_cpu")[row]
    assert caught.value.message == oracle.message(recorded)
    assert caught.value.kind == recorded["raised"]
    assert caught.value.index == index
    assert caught.value.hint or type == "Slice"


def test_gather_nd_names_the_node() -> None:
    operation = Operation("GatherNd_1", "GatherNd")
    with pytest.raises(GradstepError) as caught:
        call_kernel(lookup("GatherNd"), operation, [MATRIX, ints([0, 0], [1, 4])])
    recorded = oracle.case("gather_out_of_range_cpu")["gather_nd_2d"]
    assert caught.value.message == oracle.message(recorded)


VALUES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "gather_in_range": ("GatherV2", (VECTOR, ints(0, 1, 4, 0), 0), {}),
    "gather_axis1_ok": ("GatherV2", (MATRIX, ints(3, 0), 1), {}),
    "gather_axis_-1": ("GatherV2", (MATRIX, ints(3, 0), -1), {}),
    "gather_empty_indices": ("GatherV2", (MATRIX, ints(), 0), {}),
    "gather_nd_partial_index_ok": ("GatherNd", (MATRIX, ints([2], [0])), {}),
    "scatter_nd_duplicates_sum": (
        "ScatterNd",
        (ints([1], [1]), np.array([1, 2], np.float32), ints(4)),
        {},
    ),
    "unsorted_segment_sum_negative_dropped": (
        "UnsortedSegmentSum",
        (np.array([1, 2, 3], np.float32), ints(0, -1, 1), 2),
        {},
    ),
    "scatter_nd_bad_indices_policy_IGNORE": (
        "ScatterNd",
        (ints([1], [9]), np.ones(2, np.float32), ints(4)),
        {"bad_indices_policy": "IGNORE"},
    ),
    "one_hot_oor": ("OneHot", (ints(0, 3, -1), 3, np.float32(1), np.float32(0)), {}),
}


@each_of("row", VALUES)
def test_value_is_tensorflows(row: str) -> None:
    type, inputs, attrs = VALUES[row]
    recorded = oracle.case("gather_out_of_range_cpu")[row]
    recorded = recorded.get("value", recorded)
    found = run(type, *inputs, **attrs)
    assert found.shape == tuple(recorded["shape"])
    np.testing.assert_array_equal(found, oracle.array(recorded))


def rules(gather: str, scatter: str, negative_ok: bool = False) -> Rules:
    return Rules("test", "", OutOfRange(gather), OutOfRange(scatter), negative_ok)


PARAMS = np.array([10, 20, 30], np.float32)
ASKED = ints(0, 3, -1, -4)


@pytest.mark.parametrize(
    ("policy", "negative_ok", "expected"),
    [
        ("zero", False, [10, 0, 0, 0]),  # TensorFlow's GPU kernels
        ("wrap", False, [10, 10, 30, 30]),  # CuPy
        ("clamp", False, [10, 30, 10, 10]),  # XLA
        ("clamp", True, [10, 30, 30, 10]),  # JAX's x[i]
        ("nan", False, [10, np.nan, np.nan, np.nan]),
    ],
)
def test_gather_under_a_rule(policy: str, negative_ok: bool, expected: list[float]) -> None:
    chosen = rules(policy, "zero", negative_ok)
    found = run("GatherV2", PARAMS, ASKED, 0, rules=chosen)
    np.testing.assert_array_equal(found, np.array(expected, np.float32))
    found = run("GatherNd", PARAMS, ASKED[:, None], rules=chosen)
    np.testing.assert_array_equal(found, np.array(expected, np.float32))
    batched = run("GatherV2", PARAMS[None], ASKED[None], 1, batch_dims=1, rules=chosen)
    np.testing.assert_array_equal(batched, np.array([expected], np.float32))


def test_negative_indices_count_from_the_end_where_a_system_allows_it() -> None:
    chosen = rules("raise", "raise", negative_ok=True)
    np.testing.assert_array_equal(run("GatherV2", PARAMS, ints(-1), 0, rules=chosen), [30])
    with pytest.raises(GradstepError, match=r"indices\[1\] = -4 is not in \[0, 3\)"):
        run("GatherV2", PARAMS, ints(-3, -4), 0, rules=chosen)


def test_integers_that_cannot_be_nan_become_the_lowest() -> None:
    found = run("GatherV2", VECTOR, ints(9), 0, rules=rules("nan", "zero"))
    np.testing.assert_array_equal(found, [np.iinfo(np.int32).min])


@pytest.mark.parametrize("policy", ["zero", "nan"])
def test_scatter_drops_rows(policy: str) -> None:
    chosen = rules("zero", policy)
    updates = np.array([1, 2, 4], np.float32)
    found = run("ScatterNd", ints([0], [5], [-1]), updates, ints(3), rules=chosen)
    np.testing.assert_array_equal(found, [1, 0, 0])
    found = run("UnsortedSegmentSum", updates, ints(0, 5, -1), 3, rules=chosen)
    np.testing.assert_array_equal(found, [1, 0, 0])


def test_scatter_wraps_as_cupy_does() -> None:
    found = run(
        "ScatterNd",
        ints([0], [5], [-1]),
        np.array([1, 2, 4], np.float32),
        ints(3),
        rules=rules("wrap", "wrap"),
    )
    np.testing.assert_array_equal(found, [1, 0, 6])


@pytest.mark.parametrize("policy", ["zero", "wrap", "clamp", "nan"])
def test_an_empty_dimension_gives_nothing_to_gather(policy: str) -> None:
    empty = np.zeros((0, 2), np.float32)
    chosen = rules(policy, "zero")
    for found in (
        run("GatherV2", empty, ints(0, 1), 0, rules=chosen),
        run("GatherNd", empty, ints([0], [1]), rules=chosen),
    ):
        assert found.shape == (2, 2)
        assert np.isnan(found).all() == (policy == "nan")
