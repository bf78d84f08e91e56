"""Curves as lines: never half a pixel off, and no more lines than that takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradstep.gui.canvas.paint.link_painter import OFF
from gradstep.gui.canvas.scene.curve_flattening import (
    COUNTS,
    Polylines,
    chords,
    deviations,
    lengths,
)
from gradstep.gui.canvas.scene.link_routing import along_lanes, bounds, curves

SCALES = (0.001, 0.02, 0.066, 0.12, 0.41, 1.0, 2.0, 8.0)  # device pixels per scene unit
FINE = np.linspace(0.0, 1.0, 1_025)
WEIGHTS = np.stack([(1 - FINE) ** 3, 3 * FINE * (1 - FINE) ** 2, 3 * FINE**2 * (1 - FINE), FINE**3])

ends = st.tuples(st.integers(-1_500, 3_000), st.integers(-3_000, 3_000))


def off(curve: np.ndarray, line: np.ndarray) -> float:
    """How far a curve (float64[4, 2]) strays from a polyline (float64[k, 2]) that stands for it."""
    points, start, way = WEIGHTS.T @ curve, line[:-1], np.diff(line, axis=0)
    gap = points[:, None] - start
    share = np.clip((gap * way).sum(axis=2) / np.maximum((way**2).sum(axis=1), 1e-12), 0, 1)
    return float(np.hypot(*np.moveaxis(gap - share[..., None] * way, 2, 0)).min(axis=1).max())


def every_piece(end: tuple[int, int]) -> np.ndarray:
    """Of a link by itself, and of one that takes a lane far above."""
    start, stop = np.zeros((1, 2)), np.array([end], dtype=float)
    lane = np.array([[56.0, max(end[0] - 56.0, 60.0), -700.0]])
    return np.concatenate([curves(start, stop), along_lanes(start, stop, lane)[0]])


@given(ends, st.sampled_from(SCALES))
@example((68, 1_000), 8.0)  # upright between two layers, so that it bends within few units
@example((-172, 90), 0.066)
@example((550, 600), 1.0)
@example((-1, 35), 0.41)  # back, and bent so sharply that 10 chords may miss it where 8 do not
@example((-119, 24), 0.41)
@example((-182, -4), 8.0)
@pytest.mark.slow
def test_lines_are_less_than_half_a_pixel_off(end: tuple[int, int], scale: float) -> None:
    pieces = every_piece(end)
    flat = Polylines.of(pieces, chords(deviations(pieces), OFF / scale)).each()
    for curve, line in zip(pieces, flat, strict=True):
        assert off(curve, line) * scale < 0.5
        assert np.allclose(line[[0, -1]], curve[[0, 3]])


@pytest.mark.parametrize(
    ("end", "scale", "most"),
    [
        ((300, 0), 8.0, 1),  # straight on
        ((68, 60), 0.066, 1),
        ((68, 60), 1.0, 16),
        ((300, 200), 0.41, 16),
        ((300, 200), 1.0, 32),
        ((-172, 90), 0.066, 8),
        ((1_500, 1_000), 1.0, 64),
    ],
)
def test_no_more_lines_than_that_takes(end: tuple[int, int], scale: float, most: int) -> None:
    curve = curves(np.zeros((1, 2)), np.array([end], dtype=float))
    assert chords(deviations(curve), OFF / scale)[0] <= most


def test_a_tolerance_only_a_multitude_keeps_gets_the_multitude() -> None:
    curve = curves(np.zeros((1, 2)), np.array([[3_000.0, 3_000.0]]))
    assert chords(deviations(curve), 1e-9)[0] == COUNTS[-1]


def test_polylines_lie_one_after_the_other() -> None:
    pieces = np.concatenate([every_piece((300, 200)), every_piece((-90, 40))])
    counts = np.resize([1, 4, 2, 8, 1], len(pieces))
    flat = Polylines.of(pieces, counts)
    assert [len(line) - 1 for line in flat.each()] == counts.tolist()
    segments = flat.segments()
    assert np.array_equal(flat.owners, np.repeat(np.arange(len(pieces)), counts))
    for number, line in enumerate(flat.each()):
        mine = segments[flat.owners == number]
        assert np.array_equal(mine[:, :2], line[:-1])
        assert np.array_equal(mine[:, 2:], line[1:])
    none = Polylines.of(pieces[:0], counts[:0])
    assert (len(none), len(none.segments()), none.each()[0].size) == (0, 0, 0)


@given(ends)
def test_bounds_are_those_of_the_curves(end: tuple[int, int]) -> None:
    for curve in every_piece(end):
        points = WEIGHTS.T @ curve
        left, top, right, bottom = bounds(curve[None])[0]
        low, high = points.min(axis=0), points.max(axis=0)
        assert np.allclose([left, top], low, atol=0.05)
        assert np.allclose([right, bottom], high, atol=0.05)
        assert (np.array([left, top]) <= low + 1e-9).all()
        assert (np.array([right, bottom]) >= high - 1e-9).all()


def test_lengths_are_close() -> None:
    pieces = every_piece((600, 300))
    true = [np.hypot(*np.diff(WEIGHTS.T @ curve, axis=0).T).sum() for curve in pieces]
    assert np.allclose(lengths(pieces), true, rtol=0.01)
