"""Intervals in bands, held against a look at every one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.canvas.scene.interval_bands import Bands, counted, spread
from gradstep.gui.canvas.scene.line_clipping import shares_inside

# first and last band, begin and length
intervals = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(0, 3), st.integers(-20, 20), st.integers(1, 9)),
    max_size=12,
)
places = st.lists(
    st.tuples(st.integers(-6, 8), st.integers(-25, 30), st.integers(0, 12)), min_size=1, max_size=8
)


@given(intervals, places)
def test_what_is_found_is_what_is_there(
    rows: list[tuple[int, int, int, int]], asked: list[tuple[int, int, int]]
) -> None:
    first, more, begin, length = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    last, start, end = first + more, begin.astype(float), (begin + length).astype(float)
    bands = Bands.of(first, last, start, end)
    band, low, size = np.array(asked).T
    low, high = low.astype(float), (low + size).astype(float)
    there = (first <= band[:, None]) & (last >= band[:, None])
    there &= (start < high[:, None]) & (end > low[:, None])
    found, items = bands.reaching(band, low, high)
    assert sorted(zip(found, items, strict=True)) == list(zip(*np.nonzero(there), strict=True))
    assert np.array_equal(bands.are_free(band, low, high), ~there.any(axis=1))


def test_ranges_are_written_out() -> None:
    whose, numbers = spread(np.array([2, 5, -1]), np.array([4, 5, 0]))
    assert whose.tolist() == [0, 0, 0, 1, 2, 2]
    assert numbers.tolist() == [2, 3, 4, 5, -1, 0]
    assert [part.tolist() for part in counted(np.array([2, 0, 1]))] == [[0, 0, 2], [0, 1, 0]]


points = st.tuples(st.integers(-6, 6), st.integers(-6, 6))


@given(points, points)
def test_a_line_is_in_a_rectangle_where_its_points_are(
    start: tuple[int, int], end: tuple[int, int]
) -> None:
    """Upright, level, and no longer than a point, too."""
    first, last = np.array([start], dtype=float), np.array([end], dtype=float)
    enter, leave = shares_inside(first, last, np.array([-3.5, -1.5, 2.5, 4.5]))
    share = np.linspace(0.0, 1.0, 481)
    x, y = (first + share[:, None] * (last - first)).T
    inside = (x > -3.5) & (x < 2.5) & (y > -1.5) & (y < 4.5)
    said = (share > enter[0]) & (share < leave[0])
    edge = (np.abs(share - enter[0]) < 1e-9) | (np.abs(share - leave[0]) < 1e-9)
    assert ((inside == said) | edge).all()
    assert bool(enter[0] < leave[0]) == bool(inside.any())
