"""Curves of links: every link as one polyline of equal length, so that all are one array."""

from __future__ import annotations

import numpy as np

POINTS = 25  # per link; levels of detail take every 1st, 2nd, 4th or 8th
REACH = (32.0, 220.0)  # how far a curve goes straight out of its port, scene units
BACK = 96.0  # more of it for a link that leads back to the left

_T = np.linspace(0.0, 1.0, POINTS)
# Bernstein polynomials of degree 3 at _T: points = BASIS @ (start, control, control, end).
BASIS = np.stack([(1 - _T) ** 3, 3 * _T * (1 - _T) ** 2, 3 * _T**2 * (1 - _T), _T**3], axis=1)


def curves(
    starts: np.ndarray, ends: np.ndarray, bend: tuple[float, float] = (1.0, 1.0)
) -> np.ndarray:
    """Cubic curves that leave to the right and arrive from the left.

    starts, ends: float64[m, 2]; returns float64[m, POINTS, 2].
    bend: how far they go straight out, and in, as shares of the usual.
    """
    gap = ends[:, 0] - starts[:, 0]
    reach = np.clip(np.abs(gap) / 2, *REACH) + np.where(gap < 0, BACK, 0.0)
    out = np.stack([reach, np.zeros_like(reach)], axis=1)
    corners = np.stack([starts, starts + bend[0] * out, ends - bend[1] * out, ends], axis=1)
    return np.asarray(BASIS @ corners)


def bounds(points: np.ndarray) -> np.ndarray:
    """Left, top, right, bottom of each polyline. float64[m, 4]."""
    if not len(points):
        return np.zeros((0, 4))
    x, y = points[..., 0], points[..., 1]  # one by one: NumPy is slow at rows of two
    return np.stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)], axis=1)


def segments(points: np.ndarray, step: int) -> np.ndarray:
    """The polylines as loose segments x1, y1, x2, y2 for drawLines. float64[k, 4], contiguous."""
    coarse = points[:, ::step]
    return np.ascontiguousarray(
        np.concatenate([coarse[:, :-1], coarse[:, 1:]], axis=2).reshape(-1, 4)
    )


def dashes(points: np.ndarray, length: float) -> np.ndarray:
    """The polylines as dashes with gaps, both of that length, for drawLines: without Qt's slow
    dash pattern. float64[k, 4], contiguous."""
    if not len(points):
        return np.zeros((0, 4))
    steps = np.hypot(*np.moveaxis(np.diff(points, axis=1), 2, 0))
    along = np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)
    whole = along[:, -1]
    count = (whole // (2 * length)).astype(np.int64) + 1
    line = np.repeat(np.arange(len(points)), count)
    start = (np.arange(len(line)) - (np.cumsum(count) - count)[line]) * 2 * length
    stop = np.minimum(start + length, whole[line])
    # One row of places for all lines, so that one call finds a point on each of them.
    before = np.cumsum(whole + 1.0) - (whole + 1.0)
    places, xy = (along + before[:, None]).ravel(), points.reshape(-1, 2)
    found = [
        np.interp(at + before[line], places, xy[:, axis]) for at in (start, stop) for axis in (0, 1)
    ]
    return np.ascontiguousarray(np.stack(found, axis=1))


def beside(points: np.ndarray, distance: float) -> np.ndarray:
    """One polyline moved sideways: to its left hand, which is up for one that runs right.
    float64[p, 2] -> float64[p, 2]."""
    along = np.gradient(points, axis=0)
    length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / length[:, None]
    return np.asarray(points + normal * distance)
