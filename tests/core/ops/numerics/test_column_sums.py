"""Sums of columns by long rows: what NumPy gives, exactly where numbers are whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.ops.declare.parted_calls import make_calls
from gradstep.core.ops.numerics.column_sums import column_sums


def sums(x: np.ndarray) -> np.ndarray:
    out = np.full(x.shape[-1], 7, x.dtype)
    make_calls(column_sums(x, out, np.empty), np.empty)
    return out


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=3),
    st.sampled_from([0, 1, 3, 10, 32, 64, 700]),
    st.sampled_from([np.float32, np.float64, np.float16, np.int32]),
    st.booleans(),
)
def test_of_whole_numbers(sizes: list[int], columns: int, dtype: Any, apart: bool) -> None:
    x = np.random.default_rng(1).integers(-1, 2, (*sizes, columns)).astype(dtype)
    x = x[::2] if apart else x
    wanted = x.astype(np.float64).sum(tuple(range(x.ndim - 1)))
    assert np.array_equal(sums(x), wanted.astype(dtype))


@pytest.mark.parametrize("columns", [1, 32, 512, 1024])
def test_of_many_rows(columns: int) -> None:
    """No further from the sums than NumPy's own."""
    x = np.random.default_rng(2).standard_normal((4096, columns)).astype(np.float32)
    exact = x.astype(np.float64).sum(0)
    own, ours = (np.abs(found - exact).max() for found in (x.sum(0), sums(x)))
    assert ours <= own + 1e-4


def test_half_precision_is_rounded_once() -> None:
    x = np.full((4096, 32), 0.3, np.float16)
    assert np.array_equal(sums(x), x.sum(0, dtype=np.float16))
