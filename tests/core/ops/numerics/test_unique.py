"""Distinct integers by a table are those that sorting finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradstep.core.ops.numerics.unique import distinct_integers

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")


def in_order_of_appearance(x: np.ndarray) -> tuple[list[int], list[int]]:
    seen = list(dict.fromkeys(x.tolist()))
    return seen, [seen.index(v) for v in x.tolist()]


@given(arrays.arrays(st.sampled_from(INTEGERS), st.integers(1, 40)))
def test_values_come_in_the_order_in_which_they_first_occur(x: np.ndarray) -> None:
    found = distinct_integers(x, np.dtype(np.int32))
    if found is None:
        assert int(x.max()) - int(x.min()) >= 1 << 20
        return
    values, index = found
    assert values.dtype == x.dtype
    assert (values.tolist(), index.tolist()) == in_order_of_appearance(x)


@pytest.mark.parametrize("x", [np.array([-128, 127, 45, -128], np.int8), np.array([2**62, 2**62])])
def test_extremes_of_the_type(x: np.ndarray) -> None:
    found = distinct_integers(x, np.dtype(np.int32))
    assert found is not None
    assert [a.tolist() for a in found] == list(in_order_of_appearance(x))


@pytest.mark.parametrize(
    "x", [np.array([0, 1 << 20]), np.array([0.5]), np.array([1], np.uint64), np.array([], int)]
)
def test_what_a_table_does_not_fit_is_left_to_sorting(x: np.ndarray) -> None:
    assert distinct_integers(x, np.dtype(np.int32)) is None
