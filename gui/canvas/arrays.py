"""The scene as arrays: where every visible box, port and link is, for one placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gui.canvas import detour, routing
from gui.canvas.visible import Box, VisibleGraph

WIDTH = 172.0
TITLE = 28.0
ROW = 16.0
PADDING = 8.0
PORT = 12.0  # least distance between ports
OUT, INTO = 0, 1  # sides of a box: columns of VisibleGraph.port_counts

Point = tuple[float, float]


def height(box: Box) -> float:
    """Scene units; a multiple of 4."""
    rows = box.has_value + box.has_gradient
    body = PADDING + ROW * rows if rows else 0.0
    ports = max(box.inputs, box.outputs)
    return TITLE + max(body, PORT * ports if ports > 1 or not body else 0.0)


@dataclass(frozen=True, eq=False)
class SceneArrays:
    """visible:  boxes and links by number.
    rects:    float64[n, 4], x, y, width, height of each box.
    points:   float64[m, POINTS, 2], the polyline of each link.
    link_bounds: float64[m, 4], left, top, right, bottom of each polyline.
    """

    visible: VisibleGraph
    rects: np.ndarray
    points: np.ndarray
    link_bounds: np.ndarray

    @classmethod
    def of(cls, visible: VisibleGraph, centres: Mapping[str, Point]) -> SceneArrays:
        """The visible graph with the centre of every box given by its id."""
        sizes = np.array([(WIDTH, height(box)) for box in visible.boxes]).reshape(-1, 2)
        middle = np.array([centres[box.id] for box in visible.boxes]).reshape(-1, 2)
        rects = np.concatenate([middle - sizes / 2, sizes], axis=1)
        points = _routed(visible, rects, np.arange(len(visible.links)))
        return cls(visible, rects, points, routing.bounds(points))

    def __len__(self) -> int:
        return len(self.rects)

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of everything; a unit square when there is nothing."""
        if not len(self):
            return (0.0, 0.0, 1.0, 1.0)
        low, high = self.rects[:, :2], self.rects[:, :2] + self.rects[:, 2:]
        left, top = low.min(axis=0)
        right, bottom = high.max(axis=0)
        return (float(left), float(top), float(right), float(bottom))

    def boxes_in(self, left: float, top: float, right: float, bottom: float) -> np.ndarray:
        """bool[n]: boxes that touch a rectangle."""
        r = self.rects
        return np.asarray(
            (r[:, 0] <= right)
            & (r[:, 1] <= bottom)
            & (r[:, 0] + r[:, 2] >= left)
            & (r[:, 1] + r[:, 3] >= top)
        )

    def links_in(self, left: float, top: float, right: float, bottom: float) -> np.ndarray:
        """bool[m]: links whose bounds touch a rectangle."""
        b = self.link_bounds
        return np.asarray(
            (b[:, 0] <= right) & (b[:, 1] <= bottom) & (b[:, 2] >= left) & (b[:, 3] >= top)
        )

    def links_of(self, boxes: np.ndarray) -> np.ndarray:
        """bool[m]: links with an end in `boxes` (bool[n])."""
        return np.asarray(boxes[self.visible.ends].any(axis=1))

    def input_port(self, box: int, index: int) -> Point:
        return self._port(box, index, INTO)

    def output_port(self, box: int, index: int) -> Point:
        return self._port(box, index, OUT)

    def centre(self, box: int) -> Point:
        x, y, w, h = self.rects[box].tolist()
        return (x + w / 2, y + h / 2)

    def moved(self, boxes: np.ndarray, dx: float, dy: float) -> SceneArrays:
        """The same scene with some boxes (bool[n]) elsewhere, and their links after them."""
        rects, points, link_bounds = self.rects.copy(), self.points.copy(), self.link_bounds.copy()
        rects[boxes, :2] += (dx, dy)
        changed = np.flatnonzero(self.links_of(boxes))
        points[changed] = _routed(self.visible, rects, changed)
        link_bounds[changed] = routing.bounds(points[changed])
        return SceneArrays(self.visible, rects, points, link_bounds)

    def _port(self, box: int, index: int, side: int) -> Point:
        place = _ports(self.visible, self.rects, np.array([box]), np.array([index]), side)
        return (float(place[0, 0]), float(place[0, 1]))


def _routed(visible: VisibleGraph, rects: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Polylines of some links (their numbers). float64[k, POINTS, 2]."""
    ends, ports, control = visible.ends[links], visible.end_ports[links], visible.control[links]
    starts = _ports(visible, rects, ends[:, 0], ports[:, 0], OUT)
    stops = _ports(visible, rects, ends[:, 1], ports[:, 1], INTO)
    starts[control, 1] = rects[ends[control, 0], 1] + TITLE / 2  # control wires join the titles
    stops[control, 1] = rects[ends[control, 1], 1] + TITLE / 2
    points = routing.curves(starts, stops)
    detour.avoid(points, starts, stops, ends, rects)
    return points


def _ports(
    visible: VisibleGraph, rects: np.ndarray, boxes: np.ndarray, ports: np.ndarray, side: int
) -> np.ndarray:
    """Where ports are: they share the height of the body; without one they sit in the title row.
    boxes, ports: int64[k], numbers; returns float64[k, 2]."""
    x, y, width, height = rects[boxes].T
    body = height - TITLE
    share = (ports + 0.5) / np.maximum(visible.port_counts[boxes, side], 1)
    down = np.where(body > 0, TITLE + body * share, TITLE / 2)
    return np.stack([x + width if side == OUT else x, y + down], axis=1)
