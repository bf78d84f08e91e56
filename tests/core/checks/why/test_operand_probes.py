"""Other values for an operand: other everywhere, or only where it is zero."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.checks.why.operand_probes import beyond, others, without_zeros
from gradstep.core.checks.why.step_on_other_inputs import at_place, pick_operands

X = np.array([[0, 2], [3, 0]], np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_zeros_become_numbers_no_two_alike_and_nothing_else_changes(dtype: str) -> None:
    x = X.astype(dtype)
    tried = list(without_zeros(x))
    assert len(tried) > 1
    for healed in tried:
        assert healed.dtype == x.dtype
        assert healed.all()
        assert (healed[x != 0] == x[x != 0]).all()
        assert healed[0, 0] != healed[1, 1]
    signs = {bool(np.real(healed[0, 0]) > 0) for healed in tried}
    assert signs == {True, False}
    assert any(np.abs(healed[0, 0]) > 1 for healed in tried)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_whole_numbers_and_flags_become_one(dtype: str) -> None:
    (healed,) = without_zeros(X.astype(dtype))
    assert healed.dtype == dtype
    assert healed.tolist() == np.where(X.astype(dtype) == 0, 1, X.astype(dtype)).tolist()


def test_where_nothing_is_zero_there_is_nothing_to_try() -> None:
    assert list(without_zeros(np.ones(3))) == []


def test_wholly_other_values() -> None:
    assert [x.tolist() for x in others(np.array([True, False]))] == [[False, True]]
    assert [x.tolist() for x in others(np.array([7, 8]))] == [[0, 0], [1, 1]]
    for other in others(X):
        assert other.dtype == X.dtype
        assert (other != X).all()
        assert len(set(other.ravel().tolist())) == X.size
    assert list(others(np.array(["a"], object))) == []


def test_numbers_beyond_all() -> None:
    large = np.array([-7.0, 3, np.inf], np.float32)
    tried = [x.tolist() for x in beyond([large, np.array([5]), np.array([True])])(X)]
    assert len(tried) == 2
    flat = np.array(tried).reshape(2, -1)
    assert (flat[0] > 7).all()
    assert (flat[1] < -7).all()
    assert [x.tolist() for x in beyond([large])(np.array([True]))] == [[False]]
    assert all(np.abs(np.array(list(beyond([])(X)))).ravel() >= 1)


def test_operands_of_some_elements() -> None:
    mask = np.array([[False, True], [True, True]])
    row, scalar = np.array([10.0, 20.0]), np.array(5.0)
    found = pick_operands([X, row, scalar, "state"], mask)
    assert found[0].tolist() == [2, 3, 0]
    assert found[1].tolist() == [20, 10, 20]
    assert found[2] is scalar
    assert found[3] == "state"


@pytest.mark.parametrize(
    ("shape", "elements"),
    [
        ((2, 3), [(0, 1), (1, 2)]),
        ((3,), [(1,), (2,)]),
        ((2, 1), [(0, 0), (1, 0)]),
        ((1, 1), [(0, 0)]),
    ],
)
def test_where_elements_come_from(shape: tuple[int, ...], elements: list[tuple[int, ...]]) -> None:
    mask = np.zeros((2, 3), bool)
    mask[0, 1] = mask[1, 2] = True
    found = at_place(np.zeros(shape), (2, 3), mask)
    assert found.shape == shape
    assert [tuple(at) for at in np.argwhere(found).tolist()] == elements


def test_numbers_are_tried_that_most_functions_take() -> None:
    """Some between 0 and 1, some of the other sign, and some above 1."""
    tried = [np.asarray(x) for x in others(np.zeros(200))]
    bounds = [(float(x.min()), float(x.max())) for x in tried]
    assert [(low, high) for low, high in bounds if 0 < low < high < 1]
    assert [(low, high) for low, high in bounds if -1 < low < high < 0]
    assert [(low, high) for low, high in bounds if 1 < low < high]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_numbers_beyond_all_are_beyond_those_of_every_type(dtype: str) -> None:
    up, down = beyond([np.array([3, -50], dtype), np.zeros(0, dtype)])(X)
    assert (up > 50).all()
    assert (down < -50).all()
