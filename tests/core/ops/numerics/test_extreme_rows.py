"""The largest and smallest of rows that come to one place: on a device as NumPy finds them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.ops.numerics.extreme_rows import extreme_rows
from tests.support import fake_xp
from tests.support.each_case import each_of

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
REACHING = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 6e-8, -6e-8, 6e4]


def expected(
    largest: bool, nan_wins: bool, total: np.ndarray, values: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """By NumPy's own functions, one row after the other."""
    function = {
        (True, True): np.maximum,
        (True, False): np.fmax,
        (False, True): np.minimum,
        (False, False): np.fmin,
    }[largest, nan_wins]
    with np.errstate(invalid="ignore"):
        function.at(found := total.copy(), rows, values)
    return found


@given(
    st.sampled_from(FLOATS),
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(REACHING)), max_size=9),
    st.lists(st.sampled_from(REACHING), min_size=3, max_size=3),
)
def test_floats_and_nan_as_numpy_has_them(
    kind: str, largest: bool, nan_wins: bool, comes: list[tuple[int, float]], there: list[float]
) -> None:
    total = np.array(there, kind)
    rows = np.array([row for row, _ in comes], np.int64)
    values = np.array([x for _, x in comes], kind)
    wanted = expected(largest, nan_wins, total, values, rows)
    given_there = fake_xp.put(total), fake_xp.put(values), fake_xp.put(rows)
    found = extreme_rows(fake_xp.xp, largest, nan_wins, *given_there).get()
    assert found.dtype == kind
    np.testing.assert_array_equal(found, wanted)
    with np.errstate(invalid="ignore"):
        here = extreme_rows(np, largest, nan_wins, total.copy(), values, rows)
    np.testing.assert_array_equal(here, wanted)


@each_of("kind", INTEGERS)
@each_of("largest", [True, False])
def test_whole_numbers_up_to_their_limits(kind: str, largest: bool) -> None:
    limits = np.iinfo(kind)
    values = np.array([[limits.min, 3], [limits.max, 1], [0, 2], [1, limits.max]], kind)
    total, rows = np.full((3, 2), 2, kind), np.array([0, 2, 0, 2])
    put = fake_xp.put
    found = extreme_rows(fake_xp.xp, largest, True, put(total), put(values), put(rows)).get()
    assert found.dtype == kind
    assert found.tolist() == expected(largest, True, total, values, rows).tolist()
