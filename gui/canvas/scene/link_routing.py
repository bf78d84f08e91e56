"""Where links run: each along one cubic curve, or along several that go on one from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.gui.canvas.scene.curve_flattening import (
    LEVELS,
    Polylines,
    chords,
    deviations,
    lengths,
)
from gradstep.gui.canvas.scene.link_shapes import PIECES, Arrays, Rows, Shapes

RUNS = 64  # of links that follow each other; of more each link is looked up by itself
LANE = 2  # of a link's curves the straight one
REACH = (32.0, 220.0)  # how far a curve goes straight out of its port, scene units
BACK = 96.0  # more of it for a link that leads back to the left

Sides = tuple[float, float, float, float]  # left, top, right, bottom
NOWHERE = np.array([np.inf, np.inf, -np.inf, -np.inf])
EVERYWHERE: Sides = (-np.inf, -np.inf, np.inf, np.inf)


def curves(
    starts: np.ndarray, ends: np.ndarray, bend: tuple[float, float] = (1.0, 1.0)
) -> np.ndarray:
    """Cubic curves that leave to the right and arrive from the left.

    starts, ends: float64[m, 2]; returns float64[m, 4, 2]: start, two controls, end.
    bend: how far they go straight out, and in, as shares of the usual.
    """
    gap = ends[:, 0] - starts[:, 0]
    reach = np.clip(np.abs(gap) / 2, *REACH) + np.where(gap < 0, BACK, 0.0)
    out = np.stack([reach, np.zeros_like(reach)], axis=1)
    return np.stack([starts, starts + bend[0] * out, ends - bend[1] * out, ends], axis=1)


def along_lanes(starts: np.ndarray, ends: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Ways past boxes: out of a port, straight on along a lane, and into the other port.

    starts, ends: float64[m, 2]; lanes: float64[m, 3], from where to where and how high. Returns
    float64[m, PIECES, 4, 2].
    """
    first, last, height = lanes.T
    entries, exits = np.stack([first, height], axis=1), np.stack([last, height], axis=1)
    step = (exits - entries) / 3
    straight = np.stack([entries, entries + step, exits - step, exits], axis=1)
    return np.stack([*_sides(starts, entries), straight, *_sides(exits, ends)], axis=1)


def _sides(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two curves, each a half of the way between points; where that is steep they turn near its
    ends and are upright in the middle, so that they leave and arrive level to be seen so."""
    middle = (starts + ends) / 2
    wide, high = (middle - starts).T
    steep = np.clip((np.abs(high) / np.maximum(wide, 1e-9) - 1) / 2, 0.0, 1.0)
    out = np.stack([wide * (0.5 + 0.2 * steep), 0 * high], axis=1)
    up = (1 - steep) * high / 2 + steep * np.copysign(0.6 * wide, high)
    turn = np.stack([wide * (0.75 + 0.25 * steep), up], axis=1)
    return (
        np.stack([starts, starts + out, starts + turn, middle], axis=1),
        np.stack([middle, ends - turn, ends - out, ends], axis=1),
    )


def bounds(curves: np.ndarray) -> np.ndarray:
    """Left, top, right, bottom of each curve. float64[p, 4, 2] -> float64[p, 4]."""
    if not len(curves):
        return np.zeros((0, 4))
    sides = [side for axis in (0, 1) for side in _range(curves[..., axis])]
    return np.stack([sides[0], sides[2], sides[1], sides[3]], axis=1)


def _range(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest value of cubic polynomials between 0 and 1; float64[p, 4] by their
    controls."""
    first, second, third, last = values.T
    low, high = np.minimum(first, last), np.maximum(first, last)
    beyond = (np.minimum(second, third) < low) | (np.maximum(second, third) > high)
    if beyond.any():
        turns = _turns(values[beyond])
        low[beyond] = np.minimum(low[beyond], turns.min(axis=0))
        high[beyond] = np.maximum(high[beyond], turns.max(axis=0))
    return low, high


def _turns(values: np.ndarray) -> np.ndarray:
    """The values where a polynomial's derivative is 0, and at its ends. float64[4, p]."""
    slopes = np.diff(values, axis=1).T
    square, double = slopes[0] - 2 * slopes[1] + slopes[2], slopes[1] - slopes[0]
    root = np.sqrt(np.maximum(double**2 - square * slopes[0], 0.0))
    stable = -(double + np.copysign(root, double))  # no cancellation
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.stack([0 * root, stable / square, slopes[0] / stable, 0 * root + 1])
    t = np.clip(np.nan_to_num(places), 0.0, 1.0)
    weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
    return np.asarray(sum(w * v for w, v in zip(weights, values.T, strict=True)))


@dataclass(frozen=True, eq=False)
class Routes:
    """Where each link runs.

    shapes, rows: the curves, which other Routes may share, and the row of each link, int64[m]. A
    zone there (left, top, right, bottom): a box that stands in none of a link's has no say in where
    the link runs.
    ports: float64[m, 2, 2], from where to where.
    counts: int64[m], how many of a link's curves are in use; the first ones are.
    bounds: float64[m, 4], left, top, right, bottom of each link.
    """

    shapes: Shapes
    rows: np.ndarray
    ports: np.ndarray
    counts: np.ndarray
    bounds: np.ndarray

    @classmethod
    def of(
        cls, ports: np.ndarray, curves: np.ndarray, counts: np.ndarray, zones: np.ndarray
    ) -> Routes:
        """curves: float64[m, PIECES, 4, 2]; zones: float64[m, ZONES, 4]."""
        deviation = np.zeros((len(counts), PIECES, LEVELS), dtype=np.float32)
        sides = np.tile(NOWHERE, (len(counts), PIECES, 1))
        used = np.arange(PIECES) < counts[:, None]
        deviation[used], sides[used] = deviations(curves[used]), bounds(curves[used])
        around = [sides[..., :2].min(axis=1), sides[..., 2:].max(axis=1)]
        shapes = Shapes.of([(curves, deviation, zones)])
        rows = np.arange(len(counts))
        return cls(shapes, rows, ports, counts, np.concatenate(around, axis=1))

    @classmethod
    def joined(cls, parts: Iterable[Routes]) -> Routes:
        """One after the other; there is at least one."""
        every = [*parts]
        if len(every) == 1:
            return every[0]
        ports, counts, bounds = map(np.concatenate, zip(*(e._own for e in every), strict=True))
        shapes = Shapes.of([each._shape for each in every])
        return cls(shapes, np.arange(len(counts)), ports, counts, bounds)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def curves(self) -> Rows:
        """float64[m, PIECES, 4, 2]"""
        return Rows(self.shapes.curves, self.rows)

    @property
    def deviations(self) -> Rows:
        """float32[m, PIECES, LEVELS], of each curve; see flattening."""
        return Rows(self.shapes.deviations, self.rows)

    def copy(self) -> Routes:
        """One that shares nothing, to be changed by `put`."""
        own = (array.copy() for array in self._own)
        return Routes(Shapes.of([self._shape]), np.arange(len(self)), *own)

    def put(self, links: np.ndarray, others: Routes) -> None:
        """Have some links (their numbers) run as others do; for who made the copy."""
        for own, other in zip(self._own, others._own, strict=True):
            own[links] = other
        self.shapes.put(self.rows[links], others._shape)

    def with_others(
        self, links: np.ndarray, others: Routes, taken: np.ndarray | None = None
    ) -> Routes:
        """Where some links (their numbers) run as others do. taken: the numbers that all links had,
        where these are others, -1 for none: of those that run as others do."""
        if taken is None:
            rows, *own = (array.copy() for array in (self.rows, *self._own))
        else:
            rows, *own = self._taken(taken)
        for array, other in zip(own, others._own, strict=True):
            array[links] = other
        shapes, rows = self.shapes.with_others(rows, links, others._shape)
        return Routes(shapes, rows, *own)

    def taken(self, links: np.ndarray) -> Routes:
        """Of some links alone."""
        return Routes(self.shapes, *self._taken(links))

    def _taken(self, links: np.ndarray) -> Iterator[np.ndarray]:
        """Of some links; most of them follow each other as they did, and are copied in one go."""
        arrays = self.rows, *self._own
        links = np.maximum(links, 0)
        starts = np.flatnonzero(np.diff(links, prepend=links[:1] - 2) != 1)
        if len(starts) > RUNS:
            return (array[links] for array in arrays)
        first, lengths = links[starts], np.diff(starts, append=len(links))
        runs = [slice(a, a + n) for a, n in zip(first.tolist(), lengths.tolist(), strict=True)]
        return (np.concatenate([array[:0], *(array[run] for run in runs)]) for array in arrays)

    def shifted(self, dx: float, dy: float) -> Routes:
        """All of them elsewhere."""
        sides = np.array([dx, dy, dx, dy])
        curves, deviation, zones = self._shape
        shapes = Shapes.of([(curves + sides[:2], deviation, zones + sides)])
        around, rows = self.bounds + sides, np.arange(len(self))
        return Routes(shapes, rows, self.ports + sides[:2], self.counts, around)

    def pieces(self, links: np.ndarray, sides: Sides = EVERYWHERE) -> tuple[np.ndarray, np.ndarray]:
        """The curves of some links (their numbers) that may come into a rectangle: of which link,
        and which of it. int64[p] each, by link."""
        counts = self.counts[links]
        places, pieces = np.nonzero(np.arange(PIECES) < counts[:, None])
        near = np.ones(len(places), dtype=bool)
        some = np.flatnonzero(counts[places] > 1)  # a link of one piece is as near as that
        corners = self.curves[links[places[some]], pieces[some]]
        low, high = corners.min(axis=1), corners.max(axis=1)
        near[some] = (low <= sides[2:]).all(axis=1) & (high >= sides[:2]).all(axis=1)
        return links[places[near]], pieces[near]

    def flat(self, links: np.ndarray, pieces: np.ndarray, tolerance: float) -> Polylines:
        """Curves (of which links, and which of them; int64[p] each) as polylines that are nowhere
        farther off than `tolerance`."""
        counts = chords(self.deviations[links, pieces], tolerance)
        return Polylines.of(self.curves[links, pieces], counts)

    def lines(self, links: np.ndarray, tolerance: float) -> list[np.ndarray]:
        """Each of some links (their numbers) as one polyline. float64[k, 2] each."""
        whose, pieces = self.pieces(links)
        flat = self.flat(whose, pieces, tolerance)
        is_joint = np.zeros(len(flat.points), dtype=bool)
        is_joint[flat.first[:-1][pieces > 0]] = True  # there the piece before ended
        first = flat.first[:-1][pieces == 0]
        first -= np.cumsum(is_joint)[first]
        return np.split(flat.points[~is_joint], first[1:]) if len(links) else []

    def middle(self, link: int) -> np.ndarray:
        """A point on a link, about half-way. float64[2]."""
        corners = self.curves[link, self.counts[link] // 2]
        return np.asarray(np.array([1, 3, 3, 1]) / 8 @ corners)

    def beyond(self, links: np.ndarray, pieces: np.ndarray) -> np.ndarray:
        """How far links go on after curves of them. float64[p]."""
        left = np.zeros(len(links))
        for later in range(1, PIECES):
            some = np.flatnonzero((pieces < later) & (self.counts[links] > later))
            left[some] += lengths(self.curves[links[some], later])
        return left

    def concern(self, rect: np.ndarray) -> np.ndarray:
        """bool[m]: links that may run elsewhere when a box (x, y, width, height) comes or goes."""
        left, top, width, height = rect.tolist()
        return np.asarray(self.shapes.meet(left, top, left + width, top + height)[self.rows])

    @property
    def _own(self) -> tuple[np.ndarray, ...]:
        return self.ports, self.counts, self.bounds

    @property
    def _shape(self) -> Arrays:
        return self.shapes.taken(self.rows)
