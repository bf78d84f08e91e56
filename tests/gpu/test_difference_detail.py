"""Where one node's two results are apart: the worst elements, ULPs, and what is not finite."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.protocol.messages import ElementPair
from gradstep.gpu.difference_detail import detail_of

F = np.float32
nan, inf = float("nan"), float("inf")


def test_the_worst_elements_come_first_and_those_on_one_side_only_before_them() -> None:
    left = np.array([[1, 2, 3], [4, 5, 6]], F)
    right = np.array([[1, 2.5, 3], [nan, 5, 7]], F)
    found = detail_of(0, left, right, left.astype(np.float64))
    assert found is not None
    assert found.worst == [
        ElementPair(index=[1, 0], left=4.0, right="NaN", reference=4.0),
        ElementPair(index=[1, 2], left=6.0, right=7.0, reference=6.0),
        ElementPair(index=[0, 1], left=2.0, right=2.5, reference=2.0),
    ]
    assert (found.nonfinite_left, found.nonfinite_right, found.nonfinite_both) == (0, 1, 0)
    assert found.mask == "...r.."


def test_a_mask_says_on_which_side() -> None:
    found = detail_of(1, np.array([nan, 1, inf, 2], F), np.array([1, nan, inf, 3], F), None)
    assert found is not None
    assert (found.output, found.mask) == (1, "lrb.")
    assert found.worst[-1].reference is None


def test_ulps_are_counted_in_powers_of_two() -> None:
    left = np.ones(6, F)
    right = left.copy()
    for index, steps in enumerate((0, 1, 2, 3, 4, 9)):
        for _ in range(steps):
            right[index] = np.nextafter(right[index], F(9))
    found = detail_of(0, left, right, None)
    assert found is not None
    assert found.ulps == [1, 1, 2, 1, 1]


def test_what_is_the_same_has_no_detail() -> None:
    x = np.array([1, nan], F)
    assert detail_of(0, x, x.copy(), None) is None
    assert detail_of(0, x, x[:1], None) is None
    assert detail_of(0, np.array(["a"], object), np.array(["b"], object), None) is None


def test_integers_have_elements_and_no_ulps() -> None:
    found = detail_of(0, np.array([1, 2]), np.array([1, 5]), None)
    assert found is not None
    assert [(pair.left, pair.right) for pair in found.worst] == [(2, 5)]
    assert found.ulps == []


numbers = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_everything_is_counted(pairs: list[tuple[float, float]]) -> None:
    left, right = np.array(pairs, F).T
    found = detail_of(0, left, right, None)
    if found is None:
        np.testing.assert_array_equal(left, right)
        return
    one_side = found.nonfinite_left + found.nonfinite_right
    lost = one_side + found.nonfinite_both
    assert sum(found.ulps) == len(pairs) - lost
    assert lost == sum(mark != "." for mark in found.mask)
    assert 1 <= len(found.worst) <= 5
    for pair in found.worst:
        assert pair.left != pair.right


def test_the_worst_of_many_elements_are_found_piece_by_piece() -> None:
    left = np.zeros((600, 1000), F)
    right = left.copy()
    right[0, 1], right[300, 0], right[599, 999] = 1, 3, 2
    found = detail_of(0, left, right, None)
    assert found is not None
    assert [pair.index for pair in found.worst] == [[300, 0], [599, 999], [0, 1]]
