"""Dashes: those in view, and the same ones whatever is in view."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.canvas.paint.dashes import dashes
from gradstep.gui.canvas.scene.curve_flattening import Polylines
from gradstep.gui.canvas.scene.link_routing import curves

EVERYWHERE = (-1e9, -1e9, 1e9, 1e9)


def polyline(points: np.ndarray) -> Polylines:
    return Polylines(points, np.array([0, len(points)]))


def covered(cut: np.ndarray, step: float = 0.25) -> set[tuple[int, int]]:
    """The places, on a fine grid, that dashes (float64[k, 4]) cover."""
    found = set()
    for x1, y1, x2, y2 in cut.tolist():
        count = int(np.hypot(x2 - x1, y2 - y1) / (step / 4)) + 1
        for share in np.linspace(0.02, 0.98, count):
            at = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
            found.add((round(at[0] / step), round(at[1] / step)))
    return found


def test_dashes_and_gaps_are_of_one_length_counted_from_the_end() -> None:
    line = polyline(np.array([[0.0, 5.0], [37.0, 5.0], [95.0, 5.0]]))
    cut = dashes(line, np.zeros(1), 10.0, EVERYWHERE)
    places = np.sort(cut[:, ::2], axis=None).reshape(-1, 2)
    joined = [(5, 15), (25, 35), (45, 55), (65, 75), (85, 95)]
    assert np.allclose(places, joined), "the chord between 37 and 95 begins in a gap"
    assert (cut[:, 1::2] == 5).all()
    behind = dashes(line, np.array([10.0]), 10.0, EVERYWHERE)  # where these are gaps
    assert np.allclose(np.sort(behind[:, 0]), [0, 15, 35, 37, 55, 75])


def test_a_dash_goes_round_a_bend() -> None:
    line = polyline(np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 8.0]]))
    cut = dashes(line, np.zeros(1), 10.0, EVERYWHERE)
    assert sorted(map(tuple, cut.tolist())) == [(8, 0, 10, 0), (10, 0, 10, 8)]


@given(
    st.lists(st.tuples(st.integers(-200, 200), st.integers(-200, 200)), min_size=2, max_size=6),
    st.tuples(st.integers(-150, 150), st.integers(-150, 150)),
    st.floats(0, 50),
)
def test_a_part_of_the_view_has_its_part_of_the_dashes(
    points: list[tuple[int, int]], corner: tuple[int, int], after: float
) -> None:
    """So they stay where they are while the view moves, and strips of it fit together."""
    line, more = polyline(np.array(points, dtype=float)), np.array([after])
    left, top = corner
    sides = (left + 0.1, top + 0.1, left + 90.1, top + 70.1)
    whole, part = (dashes(line, more, 9.0, view) for view in (EVERYWHERE, sides))
    inside = {
        (x, y)
        for x, y in covered(whole)
        if sides[0] + 1 < x / 4 < sides[2] - 1 and sides[1] + 1 < y / 4 < sides[3] - 1
    }
    assert inside <= {
        (x + i, y + j) for x, y in covered(part) for i in (-1, 0, 1) for j in (-1, 0, 1)
    }
    if len(part):
        ends = part.reshape(-1, 2)
        assert (ends >= np.array(sides[:2]) - 1e-6).all()
        assert (ends <= np.array(sides[2:]) + 1e-6).all()
        assert (np.hypot(*(part[:, 2:] - part[:, :2]).T) <= 9.0 + 1e-6).all()


@pytest.mark.parametrize("length", [1e4, 1e6, 1e8])
def test_long_lines_cost_what_is_seen_of_them(length: float) -> None:
    """As a group of assignments has them by the thousand, over all of a graph."""
    count = 200
    x, y = np.tile([-length, length], count), np.repeat(np.linspace(0, 700, count), 2)
    lines = Polylines(np.stack([x, y], axis=1), np.arange(0, 2 * count + 1, 2))
    cut = dashes(lines, np.zeros(count), 4.5, (0.0, 0.0, 1280.0, 800.0))
    assert len(cut) <= count * (1280 / 9 + 2)
    steps = np.hypot(*(cut[:, 2:] - cut[:, :2]).T)
    assert np.median(steps) == pytest.approx(4.5, abs=1e-4)


def test_no_line_has_no_dashes() -> None:
    none = Polylines.of(curves(np.zeros((0, 2)), np.zeros((0, 2))), np.zeros(0, dtype=np.int64))
    assert dashes(none, np.zeros(0), 4.5, EVERYWHERE).shape == (0, 4)
    beyond = polyline(np.array([[0.0, 0.0], [50.0, 0.0]]))
    assert dashes(beyond, np.zeros(1), 4.5, (100.0, 100.0, 200.0, 200.0)).shape == (0, 4)
