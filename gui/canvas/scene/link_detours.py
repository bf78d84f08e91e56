"""Detours: links whose curve would run over boxes bend differently, or take a lane past them."""

from __future__ import annotations

import numpy as np

from gradstep.gui.canvas.scene.curve_flattening import Polylines
from gradstep.gui.canvas.scene.link_routing import LANE, NOWHERE, Routes, along_lanes, curves
from gradstep.gui.canvas.scene.link_shapes import PIECES, ZONES
from gradstep.gui.canvas.scene.obstacles import COLUMN, NEAR, Obstacles

# How far a curve goes straight out of its start and into its end, as shares of the usual reach.
BENDS = ((1.5, 0.5), (0.5, 1.5), (1.8, 0.2), (0.2, 1.8))
END = 8.0  # scene units beside a port where nothing can be avoided: all ways pass there
FAR = 1_500.0  # scene units across or down; a curve as long could not be followed
ROOM = 56.0  # scene units from a port to a lane: what is free between two layers
NARROW = 2 * (ROOM + END)  # scene units from port to port, where there is no room for a lane
SHORTEST = 32.0, 48.0  # scene units from the start to a lane, and from there to the end, at least
GAP = 10.0  # scene units from a box to the end of the lane past it
AT_ONCE = 4_000  # links, so that not all pairs of a link and a box near it are in memory
# So many chords, by how far a curve leads up or down, are no farther off it than three units: less
# than what counts as near.
CHORDS = np.array([4, 6, 8, 12, 16, 20, 24, 28, 32])


def routed(ports: np.ndarray, obstacles: Obstacles) -> Routes:
    """Where links run, from where to where (float64[m, 2, 2]); none takes notice of others.

    A link to the left, which swings round, is led around nothing.
    """
    parts = range(0, max(len(ports), 1), AT_ONCE)
    return Routes.joined(_Routing(ports[i : i + AT_ONCE], obstacles).routes() for i in parts)


class _Routing:
    """Links, each with the best way that was found for it up to now."""

    def __init__(self, ports: np.ndarray, obstacles: Obstacles) -> None:
        starts, ends = ports[:, 0], ports[:, 1]
        self._ports, self._starts, self._ends = ports, starts, ends
        self._obstacles = obstacles
        self._curves = np.zeros((len(starts), PIECES, 4, 2))
        self._curves[:, 0] = curves(starts, ends)
        self._counts = np.ones(len(starts), dtype=np.int64)
        self._met = np.full(len(starts), np.inf)  # how many boxes that way comes too near to
        self._zones = np.tile(NOWHERE, (len(starts), ZONES, 1))

    def routes(self) -> Routes:
        gap, drop = (self._ends - self._starts).T
        far = (np.maximum(gap, np.abs(drop)) > FAR) & (gap > NARROW)
        self._lead(np.flatnonzero(far))
        self._bend(np.flatnonzero(~far & (gap > 2 * END)))
        return Routes.of(self._ports, self._curves, self._counts, self._zones)

    # -- which way -------------------------------------------------------------------------------

    def _lead(self, links: np.ndarray) -> None:
        """Far: a curve beside the port, straight on along a lane, a curve to the other port."""
        start, end = self._starts[links], self._ends[links]
        first, last = start[:, 0] + ROOM, end[:, 0] - ROOM
        heights, seen = self._take_lane(links, first, last)
        self._zones[links, 0] = np.stack([first, seen[:, 0], last, seen[:, 1]], axis=1)
        self._zones[links, 1] = _around(start, np.stack([first, heights], axis=1))
        self._zones[links, 2] = _around(np.stack([last, heights], axis=1), end)

    def _bend(self, links: np.ndarray) -> None:
        """Near by: the first of the bends that meets no box; where all do, a lane past those that
        are met, or from port to port."""
        start, end = self._starts, self._ends
        self._zones[links, 0] = _around(start[links], end[links])
        whose, boxes = self._pairs(links, self._curves[links, :1])
        self._met[links] = np.bincount(whose, minlength=len(links))
        past = self._past(links[whose], boxes)
        left = links[self._met[links] > 0]
        for bend in BENDS:
            if not len(left):
                return
            left = self._take(left, curves(start[left], end[left], bend)[:, None])
        left = left[(end - start)[left, 0] > NARROW]
        between = np.stack([start[:, 0] + ROOM, end[:, 0] - ROOM], axis=1)
        for zone, lane in ((1, past), (2, between)):
            if not len(left):
                return
            _, seen = self._take_lane(left, *lane[left].T)
            sides = start[left, 0], seen[:, 0], end[left, 0], seen[:, 1]
            self._zones[left, zone] = np.stack(sides, axis=1)
            left = left[self._met[left] > 0]

    def _past(self, links: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        """Of each link from where to where a lane leads past boxes that it meets. float64[m, 2]."""
        lane = np.tile([np.inf, -np.inf], (len(self._starts), 1))
        np.minimum.at(lane[:, 0], links, self._obstacles.sides[boxes, 0] - GAP)
        np.maximum.at(lane[:, 1], links, self._obstacles.sides[boxes, 2] + GAP)
        least, most = self._starts[:, 0] + SHORTEST[0], self._ends[:, 0] - SHORTEST[1]
        return np.stack(
            [np.clip(lane[:, 0], least, most), np.clip(lane[:, 1], least, most)], axis=1
        )

    # -- trying a way ----------------------------------------------------------------------------

    def _take_lane(
        self, links: np.ndarray, first: np.ndarray, last: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Try a lane from `first` to `last` (float64[k] each). Returns how high it is, float64[k],
        and between which heights a box can change that, float64[k, 2]."""
        start, end = self._starts[links], self._ends[links]
        heights, seen = self._obstacles.lanes(start[:, 1], end[:, 1], first, last)
        some = np.flatnonzero(~np.isnan(heights))
        lanes = np.stack([first, last, heights], axis=1)
        self._take(links[some], along_lanes(start[some], end[some], lanes[some]))
        return heights, seen

    def _take(self, links: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """Have links run along other ways (float64[k, p, 4, 2]) if they meet fewer boxes so.
        Returns the links that still meet one."""
        whose, _ = self._pairs(links, ways)
        met = np.bincount(whose, minlength=len(links))
        fewer = met < self._met[links]
        better = links[fewer]
        self._curves[better, : ways.shape[1]] = ways[fewer]
        self._counts[better], self._met[better] = ways.shape[1], met[fewer]
        return np.asarray(links[self._met[links] > 0])

    def _pairs(self, links: np.ndarray, ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a link (its place in `links`) and a box that its way comes too near to. The
        straight part of a lane comes near to none."""
        curved = ways if ways.shape[1] == 1 else np.delete(ways, LANE, axis=1)
        whose = np.repeat(np.arange(len(links)), curved.shape[1])
        curved = curved.reshape(-1, 4, 2)
        left, right = self._starts[links[whose], 0] + END, self._ends[links[whose], 0] - END
        some = self._may_meet(curved, left, right)
        drop = np.abs(curved[some, 3, 1] - curved[some, 0, 1])
        lines = Polylines.of(curved[some], CHORDS[np.searchsorted(2 * CHORDS[:-1] ** 2, drop)])
        points, owners = lines.segments(), some[lines.owners]
        found, boxes = self._obstacles.met(
            points[:, :2], points[:, 2:], left[owners], right[owners]
        )
        pairs = np.unique(whose[owners[found]] * len(self._obstacles) + boxes)
        return pairs // len(self._obstacles), pairs % len(self._obstacles)

    def _may_meet(self, curved: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Numbers of the curves that are wide, or whose rectangle a box is in: between two layers
        there is mostly none. left, right: float64[k], beyond which nothing counts."""
        low, high = np.maximum(curved[:, 0, 0], left), np.minimum(curved[:, 3, 0], right)
        narrow = np.flatnonzero(high - low < COLUMN)
        ends = curved[narrow][:, ::3, 1]
        sides = low[narrow], ends.min(axis=1), high[narrow], ends.max(axis=1)
        may = np.ones(len(curved), dtype=bool)
        may[narrow] = False
        may[narrow[self._obstacles.inside(np.stack(sides, axis=1))[0]]] = True
        return np.flatnonzero(may)


def _around(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Left, top, right, bottom of where boxes are too near to curves. float64[k, 2] each."""
    low, high = np.minimum(starts, ends) - NEAR, np.maximum(starts, ends) + NEAR
    return np.concatenate([low, high], axis=1)
