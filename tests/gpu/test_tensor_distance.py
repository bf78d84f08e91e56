"""The measures of a comparison: what they are on any two tensors, and on chosen ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gradstep.gpu import safe_norms, tensor_distance
from gradstep.gpu.tensor_distance import (
    distance,
    measure,
    mismatches,
    relative_l2,
    scaled_error,
    ulp_distance,
    worst_index,
)

DTYPES = (np.float16, np.float32, np.float64)


@st.composite
def pairs(draw, dtypes=DTYPES):
    """Two tensors of one shape and element type, NaN and infinities among them."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=5))
    elements = st.floats(width=8 * dtype.itemsize)
    return draw(arrays(dtype, shape, elements=elements)), draw(
        arrays(dtype, shape, elements=elements)
    )


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@given(pairs())
def test_a_tensor_is_at_no_distance_from_itself(pair) -> None:
    a, _ = pair
    found = measure(a, a.copy())
    assert found["equal"] == 1
    assert found["nan_mismatches"] == found["max_abs"] == found["rel_l2"] == found["ulp_p99"] == 0
    assert worst_index(a, a.copy()) is None


@given(pairs())
def test_what_is_symmetric_is_symmetric(pair) -> None:
    there, back = measure(*pair), measure(*pair[::-1])
    for name in ("equal", "nan_mismatches", "max_abs"):
        assert there[name] == back[name]
    assert there["cosine"] == pytest.approx(back["cosine"], rel=1e-9, abs=1e-9)


@given(pairs())
def test_every_measure_is_a_number_in_its_range(pair) -> None:
    found = measure(*pair)
    assert not any(math.isnan(value) for value in found.values())
    assert 0 <= found["equal"] <= 1
    assert -1 - 1e-9 <= found["cosine"] <= 1 + 1e-9
    apart = distance(*pair)
    assert apart is not None
    assert math.isfinite(apart)
    assert (apart == 0) == (found["rel_l2"] == 0 and found["nan_mismatches"] == 0)


@given(pairs())
def test_a_difference_is_found_where_it_is(pair) -> None:
    a, b = pair
    place = worst_index(a, b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    assert (place is None) == bool(same.all())
    if place is not None:
        assert not same[place]


def norm(x: np.ndarray) -> float:
    """NumPy's, of elements so large that none vanishes when it is squared."""
    largest = np.abs(x).max(initial=0.0)
    return float(largest * np.linalg.norm(x.ravel() / largest)) if largest else 0.0


@given(pairs())
@example((np.array([1.0, 0.0]), np.array([1.0, 2.28494474e-165])))
def test_relative_l2_is_numpys_norm(pair) -> None:
    a, b = (np.clip(np.nan_to_num(x.astype(np.float64)), -1e6, 1e6) for x in pair)
    if norm(a) > 1e-6:
        expected = norm(b - a) / norm(a)
        assert relative_l2(a, b) == pytest.approx(expected, rel=1e-9, abs=1e-200)


def test_squares_that_would_overflow_or_vanish_do_neither() -> None:
    for size in (1e300, 1e-300):
        assert relative_l2(np.array([size, size]), np.array([size, 2 * size])) == pytest.approx(
            math.sqrt(0.5)
        )


@st.composite
def neighbours(draw):
    """Two tensors, equal but for some elements that are the next number in the other; of every
    size there is, subnormal and largest numbers among them."""
    dtype = np.dtype(draw(st.sampled_from((*DTYPES, np.int64, np.uint64))))
    size = draw(st.integers(1, 6))
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        numbers = st.integers(int(limits.min), int(limits.max) - 1)
        a = draw(arrays(dtype, size, elements=numbers))
        return a, a + draw(arrays(np.bool_, size)).astype(dtype)
    of = np.finfo(dtype)
    powers = st.integers(int(of.minexp - of.nmant), int(of.maxexp - 1))
    mantissas = st.floats(-1.9990234375, 1.9990234375, width=16)
    drawn = draw(st.lists(st.tuples(mantissas, powers), min_size=size, max_size=size))
    a = np.array([math.ldexp(m, e) for m, e in drawn]).astype(dtype)
    up = np.nextafter(a, np.array(np.inf, dtype))
    return a, np.where(draw(arrays(np.bool_, size)) & np.isfinite(up), up, a)


@given(neighbours())
def test_what_differs_in_one_bit_is_at_a_distance(pair) -> None:
    """Numbers are subtracted before they are scaled: otherwise the last bit is lost."""
    a, b = pair
    same = bool((a == b).all())
    for x, y in (pair, pair[::-1]):
        assert (relative_l2(x, y) == 0) == same
        assert (distance(x, y) == 0) == same
        assert (measure(x, y)["rel_l2"] == 0) == same
    size = max(abs(Fraction(x)) for x in (*a.tolist(), *b.tolist()))
    apart = [abs(Fraction(x) - Fraction(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    found = relative_l2(a, b)
    if max(apart) > size * Fraction(10) ** -290 and (a != 0).any() and math.isfinite(found):
        exact = sum(x * x for x in apart) / sum(Fraction(x) ** 2 for x in a.tolist())
        assert abs(Fraction(found) ** 2 / exact - 1) < 1e-12


def test_a_last_bit_is_seen_beside_a_larger_number() -> None:
    a = np.array([3.711753867003392, 7.249719705710385])
    b = np.array([3.7117538670033925, 7.249719705710385])
    assert measure(a, b)["rel_l2"] == pytest.approx(5.452e-17, rel=1e-3, abs=0)


def test_the_largest_numbers_of_both_signs_are_apart_by_a_finite_share() -> None:
    most = np.finfo(np.float64).max
    assert relative_l2(np.array([most, 0]), np.array([-most, 0])) == 2
    assert relative_l2(np.array([most, 5e-324]), np.array([most, 0])) == 5e-324


def test_nan_and_infinities_count_only_as_mismatches() -> None:
    a = f32(1, math.nan, math.inf, math.inf, 2)
    b = f32(1, math.nan, math.inf, -math.inf, math.nan)
    assert mismatches(a, b) == 2
    found = measure(a, b)
    assert found["nan_mismatches"] == 2
    assert found["max_abs"] == found["rel_l2"] == 0
    assert found["equal"] == 0.6
    assert worst_index(a, b) == (3,)
    assert distance(a, b) == 1


def test_distance_from_zeros_is_one() -> None:
    assert relative_l2(f32(0, 0), f32(0, 1e-9)) == math.inf
    assert distance(f32(0, 0), f32(0, 1e-9)) == 1


@given(pairs())
def test_ulps_count_the_numbers_between(pair) -> None:
    a = np.nan_to_num(pair[0])
    with np.errstate(over="ignore"):
        above = np.nextafter(a, np.array(np.inf, a.dtype))
    expected = np.isfinite(above)
    assert (ulp_distance(a, above)[expected] == 1).all()
    b = np.nan_to_num(pair[1])
    assert (ulp_distance(a, b) == ulp_distance(b, a)).all()
    assert ((ulp_distance(a, b) == 0) == (a == b)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_ulps_across_zero_and_the_whole_range(dtype) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    assert ulp_distance(np.array([-tiny]), np.array([tiny])).tolist() == [2]
    assert ulp_distance(np.array([-0.0], dtype), np.array([0.0], dtype)).tolist() == [0]
    ends = np.array([np.finfo(dtype).min], dtype), np.array([np.finfo(dtype).max], dtype)
    assert 2.0 ** (8 * np.dtype(dtype).itemsize - 1) < ulp_distance(*ends)[0]


def test_a_wrong_element_among_many_small_differences_is_seen() -> None:
    """A percentile alone would miss it."""
    a = np.linspace(1, 2, 10_000, dtype=np.float32)
    b = np.nextafter(a, np.float32(3))
    b[1234] = 0
    found = measure(a, b)
    assert found["ulp_p99"] <= 1
    assert found["rel_l2"] > 1e-3
    assert worst_index(a, b) == (1234,)


def test_a_sum_that_cancels_is_judged_by_its_magnitudes() -> None:
    """1e8 - 1e8 + 1 in another order: relatively all is lost, but not a rounding too much."""
    a, b = f32(1), f32(0)
    assert relative_l2(a, b) == 1
    assert scaled_error(a, b, np.array([2e8])) < 1


def test_scaled_error_of_a_sum_of_nothing_is_infinite() -> None:
    assert scaled_error(f32(0), f32(1), np.array([0.0])) == math.inf


def test_errors_against_the_reference_belong_to_their_sides() -> None:
    found = measure(f32(1, 1), f32(1, 1.5), np.ones(2))
    assert found["error_left"] == 0
    assert found["error_right"] == pytest.approx(math.sqrt(0.125))


def test_complex_numbers_are_pairs_of_real_ones() -> None:
    a = np.array([1 + 1j, 2], np.complex64)
    b = np.array([1 + 2j, 2], np.complex64)
    found = measure(a, b)
    assert found["equal"] == 0.5
    assert found["max_abs"] == 1
    assert found["rel_l2"] == pytest.approx(1 / math.sqrt(6))
    assert worst_index(a, b) == (0,)
    whole = np.zeros((2, 3), np.complex128)
    for place in np.ndindex(whole.shape):
        for part in (1, 1j):
            other = whole.copy()
            other[place] += part
            assert worst_index(whole, other) == place


def test_what_is_no_number_has_no_measures() -> None:
    words = np.array(["a", "b"], object)
    assert measure(words, words) == {}
    assert distance(words, words) is None
    assert measure(f32(1), f32(1, 2)) == {}


def test_pieces_of_a_large_tensor_make_up_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    a = rng.normal(size=(50, 41)).astype(np.float32)
    b = a + rng.normal(size=a.shape).astype(np.float32) * np.float32(1e-3)
    b[49, 3] = math.nan
    whole, place = measure(a, b), worst_index(a, b)
    monkeypatch.setattr(safe_norms, "PIECE", 7)
    monkeypatch.setattr(tensor_distance, "_SAMPLE", 100)
    pieces = measure(a, b)
    assert worst_index(a, b) == place == (49, 3)
    for name in ("equal", "nan_mismatches", "max_abs", "rel_l2", "cosine"):
        assert pieces[name] == pytest.approx(whole[name], rel=1e-9)
    assert pieces["rel_p99"] > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_measures_of_two_vectors_by_hand(dtype: type) -> None:
    found = measure(np.array([3, 4, 0], dtype), np.array([3, 5, 0], dtype))
    assert found["equal"] == pytest.approx(2 / 3)
    assert found["max_abs"] == 1
    assert found["rel_l2"] == pytest.approx(1 / 5)
    assert found["cosine"] == pytest.approx((3 * 3 + 4 * 5) / (5 * math.sqrt(34)))
    assert found["rel_p99"] == pytest.approx(1 / 4)
    fraction = np.finfo(dtype).nmant  # from 4 to 8 there are so many bits' worth of numbers
    assert found["ulp_p99"] == 2**fraction / 4


def test_what_is_small_beside_the_largest_has_no_relative_error() -> None:
    assert measure(f32(1, 1e-9), f32(1, 2e-9))["rel_p99"] == 0
    assert measure(f32(1, 1e-5), f32(1, 2e-5))["rel_p99"] == pytest.approx(1)


def test_integers_have_no_units_in_the_last_place() -> None:
    found = measure(np.array([10, 20]), np.array([10, 21]))
    assert found["rel_p99"] == pytest.approx(0.05)
    assert "ulp_p99" not in found


def test_errors_of_sums_are_counted_in_roundings() -> None:
    eps = float(np.finfo(np.float32).eps)
    a, b = f32(1, 1), f32(1 + 4 * eps, 1 + eps)
    assert scaled_error(a, b, np.array([1.0, 1.0])) == pytest.approx(4)
    assert scaled_error(a, b, np.array([8.0, 1.0])) == pytest.approx(1)
    z, w = a.astype(np.complex64) * 1j, b.astype(np.complex64) * 1j
    assert scaled_error(z, w, np.array([8.0, 1.0])) == pytest.approx(1)
    assert scaled_error(a, f32(math.inf, 1), np.ones(2)) == 0


@given(
    arrays(np.float64, 6, elements=st.floats(-1e3, 1e3)),
    arrays(np.float64, 6, elements=st.floats(-1e3, 1e3)),
    st.sampled_from([np.float32, np.float64]),
)
def test_norms_are_numpys(a: np.ndarray, b: np.ndarray, dtype: type) -> None:
    x, y = a.astype(dtype), b.astype(dtype)
    found = safe_norms.norms(x, y)
    wide = x.astype(np.float64), y.astype(np.float64)
    for norm, want in (
        (found.left, wide[0]),
        (found.right, wide[1]),
        (found.apart, wide[1] - wide[0]),
    ):
        value = math.ldexp(norm.value, norm.exponent)
        assert value == pytest.approx(float(np.linalg.norm(want)), rel=1e-9, abs=1e-150)


@pytest.mark.parametrize(
    ("a", "b", "cosine"),
    [
        ((1, 0), (1, 1), math.sqrt(0.5)),
        ((1, 0), (0, 2), 0),
        ((1, 2), (-2, -4), -1),
        ((0, 0), (0, 0), 1),
        ((0, 0), (1, 0), 0),
    ],
)
def test_the_angle_between_vectors(a: tuple, b: tuple, cosine: float) -> None:
    assert safe_norms.norms(f32(*a), f32(*b)).cosine == pytest.approx(cosine)
    scale = 1e200  # the squares are beyond float64
    x, y = np.array(a) * scale, np.array(b) / scale
    assert safe_norms.norms(x, y).cosine == pytest.approx(cosine)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_float64_does_not_hold_are_apart_exactly(dtype: type) -> None:
    a, b = np.array([2**62, 5], dtype), np.array([2**62 + 1, 5], dtype)
    for found in (measure(a, b), measure(b, a)):
        assert found["max_abs"] == 1
        assert found["rel_l2"] == pytest.approx(2.0**-62)
    assert measure(np.array([2**62], dtype), np.array([2**62 + 1], np.float64))["max_abs"] == 0


def test_numbers_at_both_ends_of_the_range_are_measured_without_a_warning() -> None:
    top = float(np.finfo(np.float64).max)
    found = measure(np.array([top, 1.0]), np.array([-top, 1.0]))
    assert found["max_abs"] == math.inf
    assert found["rel_l2"] == pytest.approx(2)
    assert worst_index(np.array([1.0, top]), np.array([1.0, -top])) == (1,)


def test_what_points_the_same_way_is_at_a_cosine_of_1_and_no_more() -> None:
    rng = np.random.default_rng(5)
    found = [safe_norms.norms(x, x * 3).cosine for x in rng.normal(size=(300, 7))]
    assert max(found) == 1
    assert min(found) == pytest.approx(1)
    found = [safe_norms.norms(x, x * -3).cosine for x in rng.normal(size=(300, 7))]
    assert min(found) == -1


@pytest.mark.parametrize(
    ("a", "b", "far"),
    [
        ((1, math.nan), (3, 0), 2),  # what is finite is farther apart than a mismatch counts
        ((1, math.nan), (1.5, 0), 1),
        ((0, math.nan), (1, 0), 1),
        ((1, math.nan), (1.5, math.nan), 0.5),
        ((1, 2), (1, math.inf), 1),
    ],
)
def test_a_mismatch_is_a_distance_of_one_at_least(a: tuple, b: tuple, far: float) -> None:
    assert distance(f32(*a), f32(*b)) == pytest.approx(far)


def test_quantiles_are_of_what_is_finite_in_both() -> None:
    for a, b in [(f32(2, 2), f32(3, math.inf)), (f32(2, math.nan), f32(3, 1))]:
        assert measure(a, b)["rel_p99"] == pytest.approx(0.5)


def test_beside_nothing_but_zeros_there_is_no_relative_error() -> None:
    found = measure(f32(0, 0), f32(0, 1))
    assert "rel_p99" not in found
    assert found["max_abs"] == 1
