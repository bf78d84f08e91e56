"""Detours, held against a judge who looks at every box and knows nothing of how they are found."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.canvas.scene import link_detours
from gradstep.gui.canvas.scene.link_detours import BENDS, END, FAR, routed
from gradstep.gui.canvas.scene.link_routing import LANE, Routes, along_lanes, curves
from gradstep.gui.canvas.scene.link_shapes import PIECES
from gradstep.gui.canvas.scene.obstacles import CLEARANCE, NEAR, Obstacles

WIDTH, HEIGHT = 172.0, 60.0
FINE = np.linspace(0.0, 1.0, 401)
WEIGHTS = np.stack([(1 - FINE) ** 3, 3 * FINE * (1 - FINE) ** 2, 3 * FINE**2 * (1 - FINE), FINE**3])

boxes = st.lists(
    st.tuples(st.integers(-10, 60), st.integers(-20, 20)).map(lambda p: (p[0] * 48, p[1] * 24)),
    min_size=1,
    max_size=14,
    unique=True,
)
ports = st.tuples(
    st.tuples(st.integers(-5, 5), st.integers(-60, 60)),
    st.tuples(st.integers(-5, 300), st.integers(-60, 60)),
)


def rects_of(corners: list[tuple[int, int]]) -> np.ndarray:
    return np.array([(x, y, WIDTH, HEIGHT) for x, y in corners], dtype=float)


def met(curve: np.ndarray, rects: np.ndarray, ends: np.ndarray, near: float = 0.0) -> set[int]:
    """The boxes that a curve (float64[4, 2]) runs through, between the ports (float64[2, 2])."""
    points = WEIGHTS.T @ curve
    between = (points[:, 0] > ends[0, 0] + END) & (points[:, 0] < ends[1, 0] - END)
    x, y = points[between].T
    left, top, width, height = (side[:, None] for side in rects.T)
    inside = (x > left - near) & (x < left + width + near)
    inside &= (y > top - near) & (y < top + height + near)
    return set(np.flatnonzero(inside.any(axis=1)).tolist())


def way(routes: Routes) -> np.ndarray:
    return routes.curves[0, : routes.counts[0]]


@given(boxes, ports)
def test_no_link_runs_through_a_box_if_a_bend_does_not(
    corners: list[tuple[int, int]], ends: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    rects, pair = rects_of(corners), np.array(ends, dtype=float) * 8
    found = routed(pair[None], Obstacles(rects))
    through = set().union(*(met(curve, rects, pair) for curve in way(found)))
    near_by = np.abs(pair[1] - pair[0]).max() <= FAR
    for bend in [(1.0, 1.0), *BENDS] if near_by else ():
        curve = curves(pair[:1], pair[1:], bend)[0]
        # A little more, for a curve that only just passes may be taken for one that does not.
        if not met(curve, rects, pair, NEAR + 4.0):
            assert not through
    plain = met(curves(pair[:1], pair[1:])[0], rects, pair, NEAR)
    assert len(through) <= max(len(plain), 0) or not near_by


@given(boxes, ports)
def test_lanes_keep_clear_of_all_boxes(
    corners: list[tuple[int, int]], ends: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    rects, pair = rects_of(corners), np.array(ends, dtype=float) * 8
    found = way(routed(pair[None], Obstacles(rects)))
    if len(found) > 1:
        left, top = found[LANE, 0]
        right = found[LANE, 3, 0]
        assert left <= right
        across = (rects[:, 0] < right) & (rects[:, 0] + WIDTH > left)
        beside = (rects[:, 1] - CLEARANCE < top) & (rects[:, 1] + HEIGHT + CLEARANCE > top)
        assert not (across & beside).any()


@given(boxes, ports)
def test_links_are_smooth_and_join_their_ports_level(
    corners: list[tuple[int, int]], ends: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    pair = np.array(ends, dtype=float) * 8
    found = way(routed(pair[None], Obstacles(rects_of(corners))))
    assert np.array_equal(found[0, 0], pair[0])
    assert np.array_equal(found[-1, 3], pair[1])
    for at, away in ((found[0, 0], found[0, 1]), (found[-1, 2], found[-1, 3])):
        assert away[1] == at[1]
        assert away[0] >= at[0]
    for before, after in pairwise(found):
        assert np.array_equal(before[3], after[0])
        into, out = before[3] - before[2], after[1] - after[0]
        assert abs(into[0] * out[1] - into[1] * out[0]) <= 1e-6 * np.hypot(*into) * np.hypot(*out)
        assert into @ out >= 0


def test_a_bend_is_rather_taken_than_a_lane() -> None:
    """It is simpler; where all meet a box as well, the link goes straight on past what is there."""
    pair = np.array([[0.0, 0.0], [500.0, 200.0]])
    for box, bend in (((220, 30), BENDS[1]), ((100, 100), BENDS[0]), ((200, 110), BENDS[2])):
        assert met(curves(pair[:1], pair[1:])[0], rects_of([box]), pair), "as it would run alone"
        (found,) = way(routed(pair[None], Obstacles(rects_of([box]))))
        assert np.array_equal(found, curves(pair[:1], pair[1:], bend)[0])
    wall = [(220, -100), (220, -30), (220, 40), (220, 110), (220, 180), (220, 250)]
    around = way(routed(pair[None], Obstacles(rects_of(wall))))
    assert len(around) == PIECES
    assert not set().union(*(met(curve, rects_of(wall), pair) for curve in around))


def test_a_way_to_a_lane_far_above_leaves_and_arrives_level() -> None:
    """Though there is hardly room for it beside the port."""
    start, end = np.array([[0.0, 0.0]]), np.array([[3_000.0, 0.0]])
    found = along_lanes(start, end, np.array([[56.0, 2_944.0, -700.0]]))[0]
    for curve, port in ((found[0], start[0]), (found[-1], end[0])):
        points = WEIGHTS.T @ curve - port
        near = np.abs(points[:, 0]) < 8
        assert np.abs(points[near, 1]).max() < 4
    for before, after in ((found[0], found[1]), (found[3], found[4])):
        assert before[2, 0] == before[3, 0] == after[1, 0], "upright in the middle"


def test_a_far_link_takes_the_nearest_free_lane() -> None:
    """Between rows of boxes that stand closer than the link is long."""
    rows = [(x * 240, y * 100) for x in range(1, 40) for y in range(5)]
    pair = np.array([[172.0, 130.0], [9_600.0, 330.0]])
    found = way(routed(pair[None], Obstacles(rects_of(rows))))
    height = found[LANE, 0, 1]
    assert 160 + CLEARANCE <= height <= 200 - CLEARANCE, "the first street down from the start"
    assert found[LANE, 3, 0] - found[LANE, 0, 0] > 9_000


def test_links_to_the_left_swing_round() -> None:
    pair = np.array([[500.0, 0.0], [100.0, 40.0]])
    found = routed(pair[None], Obstacles(rects_of([(200, -20)])))
    assert found.counts[0] == 1
    left, _, right, _ = found.bounds[0]
    assert left < 100 - 50
    assert right > 500 + 50


def test_nothing_to_route_is_no_route() -> None:
    none = np.zeros((0, 2, 2))
    assert len(routed(none, Obstacles(np.zeros((0, 4))))) == 0
    assert len(link_detours.routed(none, Obstacles(rects_of([(0, 0)])))) == 0
