"""Boxes as what links go around: which of them are met, and where a lane is free of them."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from gradstep.gui.canvas.scene.interval_bands import Bands, spread
from gradstep.gui.canvas.scene.line_clipping import shares_inside

NEAR = 4.0  # scene units at which a link touches a box
CLEARANCE = 8.0  # scene units between a box and a lane beside it
COLUMN, ROW = 128.0, 8.0  # scene units; the bands that boxes are looked up by
# So many rows from its ends a lane is looked for, one after the other.
RINGS = (4, 8, 16, 32, 64, 128, 512)


class Obstacles:
    """Boxes by their numbers. sides: float64[n, 4], left, top, right and bottom of where a link
    comes too near to each. looked_at: pairs of a line and a box, and places for a lane, that were
    compared so far."""

    def __init__(self, rects: np.ndarray, others: Obstacles | None = None) -> None:
        """rects: float64[n, 4] as x, y, width, height. others: boxes that come before these."""
        self.looked_at = 0
        mine = _Boxes(rects)
        self._parts: tuple[_Boxes, ...] = (mine,) if others is None else (*others._parts, mine)
        self.sides = np.concatenate([part.sides for part in self._parts])

    def __len__(self) -> int:
        return len(self.sides)

    # -- what is met -----------------------------------------------------------------------------

    def inside(self, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a rectangle (float64[k, 4], left, top, right, bottom) and a box in it, in part
        at least; some may be there twice."""
        places, columns = spread(*_bands(sides[:, 0], sides[:, 2], COLUMN))
        found, boxes = self._reaching(columns, sides[places, 1], sides[places, 3])
        found = places[found]
        met = (self.sides[boxes, 0] < sides[found, 2]) & (self.sides[boxes, 2] > sides[found, 0])
        return found[met], boxes[met]

    def met(
        self, starts: np.ndarray, ends: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a line (float64[k, 2] each) and a box that it comes too near to, between two
        sides (float64[k] each); some may be there twice."""
        low, high = np.minimum(starts[:, 0], ends[:, 0]), np.maximum(starts[:, 0], ends[:, 0])
        lines, columns = spread(*_bands(low, high, COLUMN))
        here, there = _crossing(starts[lines], ends[lines], columns)
        found, boxes = self._reaching(columns, np.minimum(here, there), np.maximum(here, there))
        found, sides = lines[found], self.sides[boxes]
        low, high = np.maximum(sides[:, 0], left[found]), np.minimum(sides[:, 2], right[found])
        some = np.flatnonzero(low < high)
        found, boxes = found[some], boxes[some]
        sides = np.stack([low[some], sides[some, 1], high[some], sides[some, 3]], axis=1)
        enter, leave = shares_inside(starts[found], ends[found], sides)
        return found[enter < leave], boxes[enter < leave]

    def _reaching(
        self, columns: np.ndarray, top: np.ndarray, bottom: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a place (a column, and a range in it) and a box that is as high there."""
        places, boxes, before = [], [], 0
        for part in self._parts:
            found, numbers = part.columns.reaching(columns, top, bottom)
            places.append(found)
            boxes.append(numbers + before)
            before += len(part.sides)
        self.looked_at += sum(map(len, places))
        return np.concatenate(places), np.concatenate(boxes)

    # -- where it is free ------------------------------------------------------------------------

    def lanes(
        self, starts: np.ndarray, ends: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """How high links can run past all boxes between `left` and `right` (float64[k] each): as
        near to one of their ends as can be, and rather between these than beyond. starts, ends:
        float64[k], how high the ends are. Returns float64[k], NaN where there is no lane within
        the last of RINGS; and float64[k, 2], between which heights a box can change that."""
        found, seen = np.full(len(starts), np.nan), np.stack([starts, starts], axis=1)
        some = np.arange(len(starts))
        for nearer, ring in pairwise((-1, *RINGS)):
            if not len(some):
                break
            rows, costs = _places(starts[some], ends[some], nearer, ring)
            asked = np.nonzero(np.isfinite(costs))
            whose = some[asked[0]]
            free = self._are_free(rows[asked], left[whose], right[whose])
            self.looked_at += len(whose)
            costs[asked] = np.where(free, costs[asked], np.inf)
            best = np.arange(len(some)), costs.argmin(axis=1)
            least = costs[best]
            near = np.isfinite(least)
            found[some[near]] = (rows[best][near] + 0.5) * ROW
            around = (least > 0) | (best[1] > 0)  # else nothing but its own height was looked at
            low, high = (side(starts[some], ends[some]) for side in (np.minimum, np.maximum))
            away = np.minimum(least, ring) / 2 * ROW
            seen[some[around]] = np.stack([low - away, high + away], axis=1)[around]
            some = some[~near]
        for height in (ends, starts):  # rather straight on than by half a row
            same = np.floor(found / ROW) == np.floor(height / ROW)
            found[same] = height[same]
        return found, seen + np.array([-1, 1]) * (CLEARANCE + ROW)

    def _are_free(self, rows: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        free = [part.rows.are_free(rows, left, right) for part in self._parts]
        return np.asarray(np.logical_and.reduce(free))


class _Boxes:
    """Boxes that are looked up together."""

    def __init__(self, rects: np.ndarray) -> None:
        self.sides = _grown(rects, NEAR)
        self._rects = rects

    @cached_property
    def columns(self) -> Bands:
        left, top, right, bottom = self.sides.T
        return Bands.of(*_bands(left, right, COLUMN), top, bottom)

    @cached_property
    def rows(self) -> Bands:
        """With the room that a lane leaves around them."""
        left, top, right, bottom = _grown(self._rects, CLEARANCE).T
        return Bands.of(*_bands(top, bottom, ROW), left, right)


def _places(
    starts: np.ndarray, ends: np.ndarray, nearer: int, ring: int
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that a lane may take around its ends, and how far away they count, which is more
    than `nearer` and at most `ring`: those beyond the ends count twice. int64[k, j] and
    float64[k, j], infinite for none; the row of the start comes first."""
    first, last = (np.floor(height / ROW)[:, None].astype(np.int64) for height in (starts, ends))
    way, far = np.where(last < first, -1, 1), np.abs(last - first)
    within = np.arange(nearer + 1, ring + 1)[None]
    beyond = np.arange(max(nearer, 0) // 2 + 1, ring // 2 + 1)[None]
    rows = [first + way * within, last - way * within, first - way * beyond, last + way * beyond]
    inside = np.where(within <= far, within, np.inf)
    outside = np.broadcast_to(2.0 * beyond, (len(starts), beyond.shape[1]))
    return np.concatenate(rows, axis=1), np.concatenate([inside, inside, outside, outside], axis=1)


def _crossing(
    starts: np.ndarray, ends: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How high lines (float64[k, 2] each) are at the left and the right side of a column, as far as
    they go."""
    way = ends - starts
    across = np.where(way[:, 0] == 0, 1e-9, way[:, 0])
    left, right = (
        starts[:, 1] + way[:, 1] * np.clip((side * COLUMN - starts[:, 0]) / across, 0.0, 1.0)
        for side in (columns, columns + 1)
    )
    return left, right


def _grown(rects: np.ndarray, by: float) -> np.ndarray:
    """Left, top, right, bottom of rectangles, and so much more on all sides. float64[n, 4]."""
    return np.concatenate([rects[:, :2] - by, rects[:, :2] + rects[:, 2:] + by], axis=1)


def _bands(low: np.ndarray, high: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last band of that width that ranges have part of. int64[k] each."""
    last = np.ceil(high / width).astype(np.int64) - 1
    first = np.floor(low / width).astype(np.int64)
    return first, np.maximum(first, last)
