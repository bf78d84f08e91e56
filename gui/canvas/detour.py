"""Detours: links whose curve would run over other boxes bend differently, or are led around."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gui.canvas.routing import POINTS, curves

CLEARANCE = 14.0  # scene units between a box and a link that is led around it
NEAR = 4.0  # scene units at which a curve touches a box
MOST = 2_000  # links; in larger pictures single curves cannot be followed anyway
ROUNDS = 3
# How far a curve goes straight out of its start and into its end, as shares of the usual reach.
BENDS = ((1.5, 0.5), (0.5, 1.5), (1.8, 0.2), (0.2, 1.8))
_FIRST_HALF = np.linspace(0, POINTS - 1, POINTS - POINTS // 2).round().astype(int)
_SECOND_HALF = np.linspace(0, POINTS - 1, POINTS // 2).round().astype(int)


def avoid(
    points: np.ndarray, starts: np.ndarray, ends: np.ndarray, own: np.ndarray, rects: np.ndarray
) -> None:
    """Replace, in place, the polylines that touch boxes which are not their own ends.

    points: float64[m, POINTS, 2]; starts, ends: float64[m, 2]; own: int64[m, 2], the boxes at
    the ends; rects: float64[n, 4] as x, y, width, height.
    """
    if len(points) > MOST:
        return
    boxes = np.concatenate([rects[:, :2], rects[:, :2] + rects[:, 2:]], axis=1)
    for number in np.flatnonzero(ends[:, 0] > starts[:, 0]).tolist():
        others = _between(starts[number], ends[number], boxes, own[number])
        if len(others) and touched(points[number], others).any():
            free = _remembered(starts[number].tobytes(), ends[number].tobytes(), others.tobytes())
            points[number] = free


def _between(start: np.ndarray, end: np.ndarray, boxes: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The boxes that a link from left to right, or a detour of it, can meet."""
    inside = (boxes[:, 0] < end[0]) & (boxes[:, 2] > start[0])
    inside[own] = False
    low, high = min(start[1], end[1]) - NEAR, max(start[1], end[1]) + NEAR
    if not (inside & (boxes[:, 1] < high) & (boxes[:, 3] > low)).any():
        return boxes[:0]  # not even the straight way meets one
    return np.asarray(boxes[inside])


def touched(line: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Which boxes (left, top, right, bottom) a polyline comes too near to. bool[n]."""
    fine = np.concatenate([line, (line[1:] + line[:-1]) / 2])
    x, y = fine[:, 0, None], fine[:, 1, None]
    left, top, right, bottom = boxes.T
    inside = (x > left - NEAR) & (x < right + NEAR) & (y > top - NEAR) & (y < bottom + NEAR)
    return np.asarray(inside.any(axis=0))


@lru_cache(4 * MOST)
def _remembered(start: bytes, end: bytes, boxes: bytes) -> np.ndarray:
    """`_free` of arrays given by their bytes: after an edit nearly every link runs as before."""
    read = np.frombuffer
    return _free(read(start), read(end), read(boxes).reshape(-1, 4))


def _free(start: np.ndarray, end: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """A curve that touches none of the boxes: bent otherwise if that is enough."""
    for bend in BENDS:
        line = curves(start[None], end[None], bend)[0]
        if not touched(line, boxes).any():
            return line
    hit = touched(curves(start[None], end[None])[0], boxes)
    for _ in range(ROUNDS):
        line = _around(start, end, boxes[hit])
        more = touched(line, boxes) & ~hit
        if not more.any():
            break
        hit |= more
    return line


def _around(start: np.ndarray, end: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """A curve to one side of the boxes, a straight line past them, and a curve to the end."""
    middle = (start[1] + end[1]) / 2
    above, below = boxes[:, 1].min() - CLEARANCE, boxes[:, 3].max() + CLEARANCE
    lane = above if middle - above <= below - middle else below
    left = np.clip(boxes[:, 0].min() - CLEARANCE, start[0] + 32, max(end[0] - 48, start[0] + 32))
    right = np.clip(boxes[:, 2].max() + CLEARANCE, left, max(end[0] - 32, left))
    first, last = np.array([left, lane]), np.array([right, lane])
    into, away = curves(start[None], first[None])[0], curves(last[None], end[None])[0]
    # Half of the points each; the straight line between them needs none of its own.
    return np.concatenate([into[_FIRST_HALF], away[_SECOND_HALF]])
