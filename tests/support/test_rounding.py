"""What counts as rounding is enough for any order of a sum, and too little for a mistake."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation, TensorRef
from tests.support.other_processors import other_processor
from tests.support.rounding import Rounding, assert_rounded_alike, fan_in, of_ratio

TERMS = st.sampled_from((2, 10, 784, 4096))
SEEDS = st.integers(0, 1000)


def products(terms: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, terms)).astype(np.float32), rng.normal(size=(terms, 3)).astype("f4")


def summed(terms: int, x: np.ndarray, w: np.ndarray) -> Rounding:
    """The terms cancel, so their size is said."""
    return Rounding(terms=terms, size=float(np.max(np.abs(x) @ np.abs(w))) / terms**0.5)


@given(TERMS, SEEDS)
def test_any_order_of_a_sum_is_within_it(terms: int, seed: int) -> None:
    """One after the other in the worst of orders, the smallest number of bits there is."""
    x, w = products(terms, seed)
    order = np.random.default_rng(seed).permutation(terms)
    one_by_one = np.zeros((4, 3), np.float32)
    for i in order:
        one_by_one += x[:, i, None] * w[None, i]
    assert_rounded_alike(one_by_one, x @ w, summed(terms, x, w))


@given(TERMS, SEEDS)
def test_a_term_left_out_is_not(terms: int, seed: int) -> None:
    x, w = products(terms, seed)
    with pytest.raises(AssertionError):
        assert_rounded_alike(x[:, 1:] @ w[1:], x @ w, summed(terms, x, w))


@pytest.mark.parametrize(("terms", "by"), [(1, 2e-6), (10, 3e-6), (784, 2e-5)])
def test_a_factor_that_is_off_is_not(terms: int, by: float) -> None:
    expected = np.linspace(0.5, 2, 7, dtype=np.float32)
    assert_rounded_alike(np.nextafter(expected, np.float32(9)), expected, Rounding(terms))
    with pytest.raises(AssertionError):
        assert_rounded_alike(expected * np.float32(1 + by), expected, Rounding(terms))


def test_steps_add_up_and_integers_are_exact() -> None:
    one = np.ones(3, np.float32)
    assert Rounding(steps=5).slack(one) == 5 * Rounding().slack(one)
    assert Rounding(dtype=np.float32).slack(np.ones(3)) == Rounding().slack(one)
    assert Rounding(terms=100).slack(np.arange(3)) == 0
    assert fan_in((3, 3, 2, 8), (5, 7)) == 18


def test_what_is_left_of_a_difference_is_less_sure() -> None:
    """(1.001 - 1) / (2.001 - 2) in float32 has three digits."""
    exact = of_ratio((1.0, 1.001), (2.0, 2.001))
    narrow = exact.of(dtype=np.float32)
    ratio = (np.float32(1.001) - np.float32(1)) / (np.float32(2.001) - np.float32(2))
    assert abs(ratio - 1) < narrow.slack(1.0) < 5e-3
    assert exact.slack(1.0) < 1e-11


@given(SEEDS)
def test_another_processor_is_off_by_rounding_and_the_same_each_time(seed: int) -> None:
    x, w = products(784, seed)
    op = Operation("y", "MatMul", (TensorRef("x"), TensorRef("w")))
    plain = run_op(NumpyBackend(), op, (x, w))[0]
    with other_processor(seed):
        first, second = (run_op(NumpyBackend(), op, (x, w))[0] for _ in range(2))
        whole = run_op(NumpyBackend(), op, (np.ones_like(x), np.ones_like(w)))[0]
    np.testing.assert_array_equal(first, second)
    assert (first != plain).any()
    assert (whole == 784).all(), "what is exact is so in any order"
    magnitudes = np.abs(x).astype(float) @ np.abs(w)
    assert (
        np.abs(first - plain.astype(float)) <= 2.5 * np.finfo(np.float32).eps * magnitudes
    ).all()
    np.testing.assert_array_equal(run_op(NumpyBackend(), op, (x, w))[0], plain)
