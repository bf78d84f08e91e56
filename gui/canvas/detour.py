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
    if not 0 < len(points) <= MOST:
        return
    boxes = np.concatenate([rects[:, :2], rects[:, :2] + rects[:, 2:]], axis=1)
    links, others = _near(starts, ends, own, boxes)
    left = np.unique(links[meets(points[links], boxes[others])])
    for bend in BENDS:
        if not len(left):
            return
        here = np.isin(links, left)
        bent = curves(starts[left], ends[left], bend)
        row = np.searchsorted(left, links[here])
        met = np.unique(row[meets(bent[row], boxes[others[here]])])
        free = np.delete(np.arange(len(left)), met)
        points[left[free]] = bent[free]
        left = left[met]
    for number in left.tolist():
        start, end = starts[number], ends[number]
        blocks = _across(start, end, own[number], boxes)
        points[number] = _led(start.tobytes(), end.tobytes(), blocks.tobytes())


def _near(
    starts: np.ndarray, ends: np.ndarray, own: np.ndarray, boxes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a link from left to right and a box that a curve of it can meet: curves stay as
    high and as low as their ends. int64[k] each, by link."""
    low = np.minimum(starts[:, 1:], ends[:, 1:]) - NEAR
    high = np.maximum(starts[:, 1:], ends[:, 1:]) + NEAR
    left, top, right, bottom = boxes.T
    some = (top < high.max()) & (bottom > low.min())
    some &= (left < ends[:, 0].max()) & (right > starts[:, 0].min())
    left, top, right, bottom = boxes[some].T
    near = (top < high) & (bottom > low)
    near &= left < ends[:, :1]
    near &= right > starts[:, :1]
    near &= ends[:, :1] > starts[:, :1]
    links, places = np.nonzero(near)
    others = np.flatnonzero(some)[places]
    foreign = (others[:, None] != own[links]).all(axis=1)
    return links[foreign], others[foreign]


def _across(start: np.ndarray, end: np.ndarray, own: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """The boxes that a detour can meet."""
    inside = (boxes[:, 0] < end[0]) & (boxes[:, 2] > start[0])
    inside[own] = False
    return np.asarray(boxes[inside])


def meets(lines: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Of pairs of a polyline (float64[k, p, 2]) and a box, which come too near. bool[k]."""
    fine = np.concatenate([lines, (lines[:, 1:] + lines[:, :-1]) / 2], axis=1)
    left, top, right, bottom = boxes.T[:, :, None]
    x, y = fine[..., 0], fine[..., 1]
    inside = (x > left - NEAR) & (x < right + NEAR) & (y > top - NEAR) & (y < bottom + NEAR)
    return np.asarray(inside.any(axis=1))


def touched(line: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Which boxes (left, top, right, bottom) a polyline comes too near to. bool[n]."""
    return meets(np.broadcast_to(line, (len(boxes), *line.shape)), boxes)


@lru_cache(4 * MOST)
def _led(start: bytes, end: bytes, boxes: bytes) -> np.ndarray:
    """`_around` of what is in the way, given by its bytes: after an edit nearly every link runs as
    before."""
    read = np.frombuffer
    return _free(read(start), read(end), read(boxes).reshape(-1, 4))


def _free(start: np.ndarray, end: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """A way around the boxes that no curve leaves alone, and around those met on it."""
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
