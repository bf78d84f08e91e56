"""What of a straight line lies in a rectangle."""

from __future__ import annotations

import numpy as np


def shares_inside(
    starts: np.ndarray, ends: np.ndarray, sides: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """From which to which share of its way a line is in a rectangle; the second is not larger than
    the first where it is not. (Liang and Barsky 1984.)

    starts, ends: float64[k, 2]; sides: float64[k, 4] or float64[4], left, top, right, bottom.
    """
    enter, leave = np.zeros(len(starts)), np.ones(len(starts))
    for axis in (0, 1):
        start, way = starts[:, axis], ends[:, axis] - starts[:, axis]
        low, high = sides[..., axis] - start, sides[..., axis + 2] - start
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = low / way, high / way
        inside = np.where((low < 0) & (high > 0), np.inf, -np.inf)  # all the way, or never
        enter = np.maximum(enter, np.where(way == 0, -inside, np.minimum(first, second)))
        leave = np.minimum(leave, np.where(way == 0, inside, np.maximum(first, second)))
    return enter, leave
