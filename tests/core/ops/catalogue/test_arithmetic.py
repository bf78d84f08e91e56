"""Arithmetic where NumPy, CuPy and TensorFlow part ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import lookup
from tests.support.interpret import call_kernel


def run(type: str, *inputs: Any, **attrs: Any) -> Any:
    operation = Operation(type, type, attrs=attrs)
    with np.errstate(all="ignore"):
        return call_kernel(lookup(type), operation, [np.asarray(x) for x in inputs])[0]


def test_floor_division_rounds_the_quotient() -> None:
    """NumPy's own floor_divide says 59, for it never forms the quotient."""
    assert run("FloorDiv", np.float32(6), np.float32(0.1)) == 60


@pytest.mark.parametrize(("x", "y"), [(-7, 3), (7, -3), (-7, -3), (6, 3), (-1, 2)])
def test_integers_divide_and_leave_what_python_does(x: int, y: int) -> None:
    assert run("FloorDiv", np.int32(x), np.int32(y)) == x // y
    assert run("FloorMod", np.int32(x), np.int32(y)) == x % y
    assert run("FloorMod", np.float64(x), np.float64(y)) == x % y


def test_mean_of_integers_is_rounded_to_zero() -> None:
    axes = np.array([0], np.int32)
    assert run("Mean", np.array([-3, -4], np.int32), axes, keep_dims=False) == -3
    assert run("Mean", np.array([3, 4], np.int32), axes, keep_dims=False).dtype == np.int32


def test_extremes_of_nothing_are_the_infinities() -> None:
    nothing = np.zeros((0, 2), np.float32)
    axes = np.array([0], np.int32)
    np.testing.assert_array_equal(run("Max", nothing, axes, keep_dims=False), [-np.inf] * 2)
    found = run("Min", nothing, axes, keep_dims=True)
    np.testing.assert_array_equal(found, [[np.inf] * 2])
    assert run("Max", nothing.astype(np.int32), axes, keep_dims=False)[0] == -(2**31)


def test_argmax_passes_over_nan() -> None:
    x = np.array([1, np.nan, 3], np.float32)
    assert run("ArgMax", x, np.int32(0), output_type=DType.INT64) == 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sigmoid_of_large_numbers(dtype: type) -> None:
    found = run("Sigmoid", np.array([-800, -12, 0, 12, 800], dtype))
    np.testing.assert_allclose(found, [0, 6.1442e-6, 0.5, 0.9999938558, 1], rtol=1e-2, atol=0)
    assert found.dtype == dtype
