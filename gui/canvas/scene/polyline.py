"""One polyline: a part of it, a point on it, another beside it. float64[k, 2], k of at least 2."""

from __future__ import annotations

import numpy as np


def along(points: np.ndarray) -> np.ndarray:
    """How far each point is from the first, on the way. float64[k]."""
    return np.append(0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))


def at(points: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The point after that share of the way, and the direction there. float64[2] each; the second
    is of length 1."""
    far = along(points)
    place = share * far[-1]
    chord = int(np.clip(np.searchsorted(far, place, side="right") - 1, 0, len(points) - 2))
    way = points[chord + 1] - points[chord]
    way = way / max(float(np.hypot(*way)), 1e-9)
    return points[chord] + (place - far[chord]) * way, way


def part(points: np.ndarray, start: float, stop: float) -> np.ndarray:
    """From so far behind the first point to so far before the last; as short as can be drawn where
    the polyline is not as long."""
    far = along(points)
    first, last = min(start, far[-1] / 2), max(far[-1] - stop, far[-1] / 2 + 1e-3)
    within = points[(far > first) & (far < last)]
    ends = [[np.interp(place, far, xs) for xs in points.T] for place in (first, last)]
    return np.concatenate([ends[:1], within, ends[1:]])


def beside(points: np.ndarray, distance: float) -> np.ndarray:
    """Moved sideways: to its left hand, which is up for one that runs right."""
    ways = np.diff(points, axis=0)
    ways = ways / np.maximum(np.hypot(*ways.T), 1e-9)[:, None]
    mean = np.concatenate([ways[:1], ways[:-1] + ways[1:], ways[-1:]])
    mean /= np.maximum(np.hypot(*mean.T), 1e-9)[:, None]
    return np.asarray(points + np.stack([mean[:, 1], -mean[:, 0]], axis=1) * distance)
