"""Sums of many rows: the bits of adding row after row to zeros."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.ops.numerics.row_sums import sums_in_order, worthwhile
from tests.support.each_case import each_of

TYPES = ("float16", "float32", "float64", "complex64", "int8", "uint8", "int32", "int64")


def one_after_another(values: np.ndarray, places: np.ndarray, count: int) -> np.ndarray:
    total = np.zeros((count, values.shape[1]), values.dtype)
    for value, place in zip(values, places, strict=True):
        total[place] += value
    return total


def rows(dtype: str, count: int, width: int) -> np.ndarray:
    """Of sizes so different that another order would round otherwise."""
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(count, width)) * 10.0 ** rng.integers(-3, 3, (count, width))
    return numbers.astype(np.int64).astype(dtype) if dtype[0] in "iu" else numbers.astype(dtype)


@each_of("dtype", TYPES)
@each_of("width", [4, 5, 64])
def test_sums_have_the_bits_of_adding_in_order(dtype: str, width: int) -> None:
    values = rows(dtype, 1200, width)
    places = np.random.default_rng(4).zipf(1.3, 1200) % 50
    expected = one_after_another(values, places, 60)
    assert sums_in_order(values, places, 60).tobytes() == expected.tobytes()


@pytest.mark.parametrize("count", [1, 7, 1200, 70_000])
def test_few_and_many_places(count: int) -> None:
    values = rows("float32", 1200, 8)
    places = np.random.default_rng(5).integers(0, count, 1200).astype(np.int32)
    expected = one_after_another(values, places, count)
    assert sums_in_order(values, places, count).tobytes() == expected.tobytes()


def test_a_sum_of_negative_zeros_is_zero_as_it_is_when_added_to_zeros() -> None:
    values = np.full((2100, 4), -0.0, np.float32)
    assert not np.signbit(sums_in_order(values, np.arange(2100) // 2, 1050)).any()


def test_nan_and_infinity_stay_in_their_rows() -> None:
    values = rows("float32", 1200, 8)
    values[3, 0], values[5, 1] = np.nan, np.inf
    found = sums_in_order(values, np.arange(1200) % 100, 100)
    assert np.isnan(found[3, 0])
    assert np.isinf(found[5, 1])
    assert np.isfinite(found).sum() == found.size - 2


def test_many_wide_rows_are_worthwhile() -> None:
    assert worthwhile(np.zeros((1024, 8)))


@pytest.mark.parametrize("shape", [(3000, 3), (100, 8)])
def test_narrow_or_few_rows_are_left_to_numpy(shape: tuple[int, int]) -> None:
    assert not worthwhile(np.zeros(shape))
