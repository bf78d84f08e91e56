"""Tensors that are the same up to the order of their axes, and those that are not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.checks.alignment.equal_numbers import (
    are_arranged,
    as_arranged,
    distance,
    sorted_numbers,
)

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@given(SHAPES, st.data())
def test_any_order_of_axes_is_found(shape: list[int], data: st.DataObject) -> None:
    value = np.random.default_rng(0).standard_normal(shape)
    axes = data.draw(st.permutations(range(len(shape))))
    turned = value.transpose(axes)
    found = as_arranged(turned, value)
    assert found is not None
    assert np.array_equal(found, value)
    assert np.array_equal(sorted_numbers(turned), sorted_numbers(value))


@given(SHAPES)
def test_axes_of_one_and_joined_rows_are_no_difference(shape: list[int]) -> None:
    value = np.random.default_rng(1).standard_normal((*shape, 5))
    assert are_arranged(value.reshape(-1, 5), value, 0.0)
    assert are_arranged(value[None, ..., None], value, 0.0)


def test_a_reshape_is_no_order_of_axes() -> None:
    value = np.arange(24.0).reshape(2, 3, 4)
    assert not are_arranged(value.reshape(2, 4, 3), value.transpose(0, 2, 1), 1e-6)
    assert are_arranged(value, value.transpose(0, 2, 1), 0.0)


def test_rows_may_be_joined_but_not_dealt_out_anew() -> None:
    value = np.arange(192.0).reshape(2, 6, 4, 4)
    dealt = value.transpose(2, 0, 3, 1).reshape(2, 4, 4, 6)
    assert not are_arranged(value, dealt, 1e-6)
    assert are_arranged(value, dealt.reshape(-1, 6), 1e-6)


def test_distances() -> None:
    one = np.array([3.0, 4.0])
    assert distance(one, one) == 0
    assert distance(np.zeros(2), np.zeros(2)) == 0
    assert distance(one, 2 * one) == 0.5
    assert distance(one, np.zeros(3)) == np.inf
    nan = np.array([np.nan, 1.0])
    assert distance(nan, nan) == 0
    assert not distance(nan, one) < np.inf
    assert distance(np.full(2, np.nan), np.zeros(2)) == np.inf
    assert distance(np.zeros(2), np.array([np.inf, 0.0])) == np.inf
    assert distance(1j * one, 1j * one) == 0
    assert distance(1j * one, -1j * one) == 2
