"""Cubic curves as polylines that nobody can tell from them: as few points as a tolerance allows.

A curve is cut into n chords. How far they stray from it is found once for n = 1, 2, 4, … 64, and
then says, for any tolerance, how many there have to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

LEVELS = 7  # powers of two for which the deviation is known
COARSE = 5  # of them the first, for which more points are looked at
# So many chords, and no others: those that were looked at, for the sharp bend of a link that leads
# back may lie between the points of 10 chords where 8 have a point on it.
COUNTS = 2 ** np.arange(10)
_FINEST = 2 ** (
    LEVELS - 1
)  # chords whose ends are the points that are looked at; of sharp bends 2×
_FEW = 12
_AT_ONCE = 1_000  # curves, so that what is being computed stays in the processor's cache


def deviations(curves: np.ndarray) -> np.ndarray:
    """How far 1, 2, 4, … 64 chords stray from each curve. float64[p, 4, 2] -> float32[p, LEVELS].

    Few chords: the largest distance at a quarter, half and three quarters of each. Many: a bound.
    The polyline with twice the chords is so far off, that with twice as many again so far from it,
    and so on; of the finest it is taken that half is left each time, as at a sharp bend, though
    elsewhere it is a quarter.
    """
    found = np.empty((len(curves), LEVELS), dtype=np.float32)
    sharp = _bend_sharply(curves)
    for chosen, finest in ((np.flatnonzero(~sharp), _FINEST), (np.flatnonzero(sharp), 2 * _FINEST)):
        for some in np.split(chosen, range(_AT_ONCE, len(chosen), _AT_ONCE)):
            found[some] = _deviations(curves[some], finest)
    return found


def _bend_sharply(curves: np.ndarray) -> np.ndarray:
    """Which lead back, and hardly up or down on the way: there they are slow. bool[p]."""
    begin, out, into, end = curves.transpose(1, 2, 0)
    flat = 2 * np.abs(end[1] - begin[1]) < np.abs(out[0] - begin[0])
    return np.asarray((out[0] > into[0]) & flat)


def _deviations(curves: np.ndarray, finest: int) -> np.ndarray:
    """By the ends of so many chords."""
    corners = (curves - curves[:, :1]).transpose(2, 1, 0).astype(np.float32)
    points = _basis(finest).astype(np.float32) @ corners
    looked = range(finest.bit_length() - 1)  # powers of two of fewer chords
    halves = [_farthest(points, finest >> level, 0.5) for level in looked]
    found = np.cumsum(np.stack([halves[-1], *reversed(halves)]), axis=0)[::-1][:LEVELS]
    for level in reversed(range(COARSE)):
        quarters = [_farthest(points, finest >> level, share) for share in (0.25, 0.75)]
        found[level] = np.maximum.reduce([*quarters, halves[level], found[level + 1]])
    return np.ascontiguousarray(found.T)


def _farthest(points: np.ndarray, step: int, share: float) -> np.ndarray:
    """Of polylines (float32[2, k, p]) the largest distance of the point after a share of each
    chord, which joins every `step`-th point. float32[p]."""
    dx, dy = points[:, step::step] - points[:, :-1:step]
    px, py = points[:, int(share * step) :: step] - points[:, :-1:step]
    along = np.clip((px * dx + py * dy) / np.maximum(dx * dx + dy * dy, 1e-12), 0.0, 1.0)
    px -= along * dx
    py -= along * dy
    return np.asarray(np.sqrt((px * px + py * py).max(axis=0)))


def chords(deviation: np.ndarray, tolerance: float) -> np.ndarray:
    """How many chords keep within a tolerance, by `deviations`. [p, LEVELS] -> int64[p]. More than
    were looked at go on coming closer as the last did."""
    level = (deviation > tolerance).sum(axis=1)
    far = level == LEVELS
    above, below = np.maximum(deviation[far, -2:], 1e-12).T
    per_doubling = np.maximum(np.log(above / below), 1e-3)
    level[far] += np.ceil(np.log(below / tolerance) / per_doubling).astype(np.int64) - 1
    return np.asarray(COUNTS[np.minimum(level, len(COUNTS) - 1)])


def lengths(curves: np.ndarray) -> np.ndarray:
    """Of curves, closely: by a few chords. float64[p, 4, 2] -> float64[p]."""
    points = _basis(_FEW) @ curves.transpose(1, 0, 2).reshape(4, -1)
    steps = np.diff(points.reshape(_FEW + 1, -1, 2), axis=0)
    return np.asarray(np.hypot(steps[..., 0], steps[..., 1]).sum(axis=0))


@cache
def _basis(count: int) -> np.ndarray:
    """Bernstein's polynomials of degree 3 at the ends of `count` chords. float64[count + 1, 4].
    The ends lie closer where a curve starts and stops: there links bend."""
    even = np.linspace(0.0, 1.0, count + 1)
    t = (even + 3 * even**2 - 2 * even**3) / 2
    return np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], axis=1)


@dataclass(frozen=True, eq=False)
class Polylines:
    """points: float64[k, 2], of all one after the other; first: int64[m + 1], those of polyline i
    are points[first[i] : first[i + 1]]."""

    points: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, curves: np.ndarray, counts: np.ndarray) -> Polylines:
        """`counts` (int64[m]) chords of each curve (float64[m, 4, 2])."""
        first = np.concatenate([[0], np.cumsum(counts + 1)])
        points = np.empty((int(first[-1]), 2))
        for count in np.unique(counts).tolist():
            chosen = np.flatnonzero(counts == count)
            corners = curves[chosen].transpose(1, 0, 2).reshape(4, -1)
            places = first[chosen] + np.arange(count + 1)[:, None]
            points[places] = (_basis(count) @ corners).reshape(count + 1, -1, 2)
        return cls(points, first)

    def __len__(self) -> int:
        return len(self.first) - 1

    @cached_property
    def owners(self) -> np.ndarray:
        """Of each chord its polyline. int64[s]."""
        return np.repeat(np.arange(len(self)), np.diff(self.first) - 1)

    def segments(self) -> np.ndarray:
        """All as loose chords x1, y1, x2, y2 for drawLines. float64[s, 4], contiguous."""
        if not len(self):
            return np.zeros((0, 4))
        pairs = sliding_window_view(self.points.ravel(), 4)[::2]  # of each point and the next
        return np.asarray(pairs[np.arange(len(self.owners)) + self.owners])

    def each(self) -> list[np.ndarray]:
        """One by one. float64[k, 2] each."""
        return np.split(self.points, self.first[1:-1])
