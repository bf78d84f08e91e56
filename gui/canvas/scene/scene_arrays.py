"""The scene as arrays: where every visible box, port and link is, for one placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter

import numpy as np

from gradstep.gui.canvas.scene.hubs import STUB, Hub
from gradstep.gui.canvas.scene.incremental_routing import MANY, rerouted
from gradstep.gui.canvas.scene.link_detours import routed
from gradstep.gui.canvas.scene.link_routing import Routes
from gradstep.gui.canvas.scene.obstacles import Obstacles
from gradstep.gui.canvas.scene.scope_frames import Frame, Measured
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

WIDTH = 172.0
TITLE = 28.0
ROW = 16.0
PADDING = 8.0
FRAME_TITLE = 22.0  # of a frame, in its upper edge
PORT = 12.0  # least distance between ports
_ID = attrgetter("id")
# Found when asked for: of boxes in their places, with the links between them, with frames around.
_OF_BOXES, _OF_LINKS = ("_box_sides", "standing"), ("_link_sides",)
_OF_FRAMES = ("frames", "_measured", "scopes", "occupied")
_OF_PLACES = (*_OF_BOXES, *_OF_LINKS, *_OF_FRAMES, "extent")
OUT, INTO = 0, 1  # sides of a box: columns of VisibleGraph.port_counts

Point = tuple[float, float]
_Sides = tuple[np.ndarray, ...]  # left, top, right, bottom


def heights(visible: VisibleGraph) -> np.ndarray:
    """float64[n]: of each box, scene units; multiples of 4."""
    rows, ports = visible.rows, visible.port_counts.max(axis=1, initial=0)
    body = np.where(rows > 0, PADDING + ROW * rows, 0.0)
    shares = (ports > 1) | (body == 0)
    return TITLE + np.maximum(body, np.where(shares, PORT * ports, 0.0))


@dataclass(frozen=True, eq=False)
class SceneArrays:
    """visible:  boxes and links by number.
    rects:    float64[n, 4], x, y, width, height of each box.
    routes:   where each link runs.
    base:     the scene of which this is a moment of a drag; frames stay where they are meanwhile.
    raised:   numbers of boxes that lie over all others, from below; those lie by their numbers.
    centres:  of what `middles` (float64[n, 2]) are the numbers; None where it was not made of any.
    """

    visible: VisibleGraph
    rects: np.ndarray
    routes: Routes
    base: SceneArrays | None = None
    raised: tuple[int, ...] = ()
    centres: dict[str, Point] | None = None
    middles: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        visible: VisibleGraph,
        centres: dict[str, Point],
        raised: tuple[int, ...] = (),
        before: SceneArrays | None = None,
        middles: np.ndarray | None = None,
    ) -> SceneArrays:
        """The visible graph with the centre of every box given by its id.

        before: a scene from which an edit led here; the links that it did not touch are taken over.
        middles: the centres of the boxes, float64[n, 2], where these are known.
        """
        if middles is None:
            middles = _middles(visible, centres, before)
        if before is not None and before.base is None and _stand_alike(visible, middles, before):
            found = cls(visible, before.rects, before.routes, None, raised, centres, middles)
            found._keep(before)
            return found
        tall = heights(visible)
        sizes = np.stack([np.full_like(tall, WIDTH), tall], axis=1)
        rects = np.concatenate([middles - sizes / 2, sizes], axis=1)
        routes = rerouted(visible, rects, partial(_link_ports, visible, rects), before)
        found = cls(visible, rects, routes, None, raised, centres, middles)
        if before is not None and before.base is None:
            found._keep(before)
        return found

    def __len__(self) -> int:
        return len(self.rects)

    def with_raised(self, raised: tuple[int, ...]) -> SceneArrays:
        """The same with other boxes on top."""
        found, known = replace(self, raised=raised), self.__dict__
        found.__dict__.update({name: known[name] for name in _OF_PLACES if name in known})
        return found

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """Around boxes that belong together, the outer ones first."""
        if self.base is not None:
            return self.base.frames
        return self.visible.framing.frames(self._measured)

    @cached_property
    def occupied(self) -> np.ndarray:
        """float64[k, 4]: the boxes, and the titles of frames: what else is said is said beside."""
        titles = [(*frame.rect[:3], FRAME_TITLE) for frame in self.frames]
        return np.concatenate([self.rects, np.array(titles).reshape(-1, 4)])

    @cached_property
    def _measured(self) -> Measured:
        return self.visible.framing.measure(self.rects)

    def _keep(self, before: SceneArrays) -> None:
        """What follows from where boxes and links are, of a scene that has them in the same places;
        and frames, of one whose boxes stand in the same scopes."""
        known, framing = before.__dict__, self.visible.framing
        stay = self.rects is before.rects or np.array_equal(self.rects, before.rects)
        framed = framing is before.visible.framing and "_measured" in known
        kept = [*(_OF_BOXES if stay else ()), *(_OF_FRAMES if stay and framed else ())]
        if self.routes is before.routes:
            kept += (*_OF_LINKS, *(("extent",) if stay and framed else ()))
        self.__dict__.update({name: known[name] for name in kept if name in known})
        if framed and not stay and np.count_nonzero(self.rects != before.rects) <= MANY:
            self.__dict__["_measured"] = framing.measure(self.rects, before._measured)

    @cached_property
    def scopes(self) -> list[str]:
        """Of each box the inmost scope whose frame is around it, "" for none."""
        if self.base is not None:
            return self.base.scopes
        return self.visible.framing.inmost(self.frames, len(self))

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of all boxes, frames and links; a unit square when there is
        nothing."""
        if not len(self):
            return (0.0, 0.0, 1.0, 1.0)
        x, y, width, height = np.array([frame.rect for frame in self.frames]).reshape(-1, 4).T
        frames = x, y, x + width, y + height
        sides = [*zip(self._sides, self._sides_of_links, frames, strict=True)]
        least = [min(float(each.min(initial=np.inf)) for each in side) for side in sides[:2]]
        most = [max(float(each.max(initial=-np.inf)) for each in side) for side in sides[2:]]
        return (least[0], least[1], most[0], most[1])

    @cached_property
    def standing(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of all boxes alone; a unit square when there are none."""
        if not len(self):
            return (0.0, 0.0, 1.0, 1.0)
        x, y, right, bottom = self._sides
        return float(x.min()), float(y.min()), float(right.max()), float(bottom.max())

    def from_below(self, boxes: np.ndarray) -> np.ndarray:
        """int64[k]: the numbers of boxes (bool[n]), the lowest first."""
        numbers = np.flatnonzero(boxes)
        return numbers[np.argsort(self._height[numbers], kind="stable")] if self.raised else numbers

    @cached_property
    def _height(self) -> np.ndarray:
        """int64[n]: 0, or the place among those that are raised."""
        height = np.zeros(len(self), dtype=np.int64)
        height[list(self.raised)] = np.arange(1, len(self.raised) + 1)
        return height

    def is_covered(self, box: int) -> bool:
        """Whether another box lies over this one."""
        x, y, width, height = self.rects[box].tolist()
        near = self.from_below(self.boxes_in(x, y, x + width, y + height))
        return bool(near[-1] != box)

    def boxes_in(self, left: float, top: float, right: float, bottom: float) -> np.ndarray:
        """bool[n]: boxes that touch a rectangle."""
        return _touching(self._sides, (left, top, right, bottom))

    def links_in(self, left: float, top: float, right: float, bottom: float) -> np.ndarray:
        """bool[m]: links whose bounds touch a rectangle."""
        return _touching(self._sides_of_links, (left, top, right, bottom))

    @property
    def _sides(self) -> _Sides:
        """Left, top, right and bottom of each box."""
        return _box_sides(self.rects) if self.base is not None else self._box_sides

    @property
    def _sides_of_links(self) -> _Sides:
        """The same of links."""
        return tuple(self.routes.bounds.T) if self.base is not None else self._link_sides

    @cached_property
    def _box_sides(self) -> _Sides:
        """Each in one piece of memory: they are asked for many times, and all gone through."""
        return tuple(map(np.ascontiguousarray, _box_sides(self.rects)))

    @cached_property
    def _link_sides(self) -> _Sides:
        return tuple(np.ascontiguousarray(self.routes.bounds.T))

    def links_of(self, boxes: np.ndarray) -> np.ndarray:
        """bool[m]: links with an end in `boxes` (bool[n])."""
        sources, targets = self.visible.ends.T
        return np.asarray(boxes[sources] | boxes[targets])

    def drawn_out(self, links: np.ndarray) -> Routes:
        """Links (their numbers) whole, of which stubs are drawn: straight to their other end. Kept
        for who asks again, with the very same array."""
        known: tuple[np.ndarray, Routes] | None = self.__dict__.get("_drawn_out")
        if known is None or known[0] is not links:
            ports = joined_ports(self.visible, self.rects, links)
            known = links, routed(ports, Obstacles(self.rects[:0]))
            self.__dict__["_drawn_out"] = known
        return known[1]

    def hub_point(self, hub: Hub) -> Point:
        """Where its stub begins, or ends."""
        place = joined_ports(self.visible, self.rects, hub.links[:1])[0, 0 if hub.is_output else 1]
        return (float(place[0]), float(place[1]))

    def input_port(self, box: int, index: int) -> Point:
        return self._port(box, index, INTO)

    def output_port(self, box: int, index: int) -> Point:
        return self._port(box, index, OUT)

    def centre(self, box: int) -> Point:
        x, y, w, h = self.rects[box].tolist()
        return (x + w / 2, y + h / 2)

    def _port(self, box: int, index: int, side: int) -> Point:
        place = _ports(self.visible, self.rects, np.array([box]), np.array([index]), side)
        return (float(place[0, 0]), float(place[0, 1]))


def _box_sides(rects: np.ndarray) -> _Sides:
    """Left, top, right and bottom; rects: float64[n, 4]."""
    x, y, width, height = rects.T
    return x, y, x + width, y + height


def _touching(sides: _Sides, rect: tuple[float, float, float, float]) -> np.ndarray:
    """bool[n]: what touches a rectangle, of which these are left, top, right and bottom."""
    left, top, right, bottom = rect
    return np.asarray(
        (sides[0] <= right) & (sides[1] <= bottom) & (sides[2] >= left) & (sides[3] >= top)
    )


def _middles(
    visible: VisibleGraph, centres: Mapping[str, Point], before: SceneArrays | None
) -> np.ndarray:
    """The centres of the boxes; those of before where these are the same. float64[n, 2]."""
    known = None if before is None or before.centres is not centres else before
    if known is not None and known.visible.number is visible.number and known.middles is not None:
        return known.middles
    return np.array([*map(centres.__getitem__, map(_ID, visible.boxes))]).reshape(-1, 2)


def _stand_alike(visible: VisibleGraph, middles: np.ndarray, before: SceneArrays) -> bool:
    """Whether boxes and links are where they were, whatever the boxes are called."""
    old = before.visible
    if visible.ends is not old.ends or visible.end_ports is not old.end_ports:
        return False
    if before.middles is None:
        return False
    both = (
        (middles, before.middles),
        (visible.rows, old.rows),
        (visible.port_counts, old.port_counts),
    )
    return all(a is b or np.array_equal(a, b) for a, b in both)


class Movement:
    """Some boxes (bool[n]) of a scene on their way: with every frame their links run anew, those
    from one of them to another come along, and nothing else is touched. The scenes that come out of
    it share their memory: each is good until the next."""

    def __init__(self, start: SceneArrays, boxes: np.ndarray) -> None:
        self._start = start
        self._boxes = np.flatnonzero(boxes)
        ends = boxes[start.visible.ends]
        self._within, self._links = (
            np.flatnonzero(ends.all(axis=1)),
            np.flatnonzero(ends.sum(1) == 1),
        )
        self._rects = start.rects.copy()
        self._routes = start.routes.copy()
        self._standing = Obstacles(start.rects[~boxes])

    def by(self, dx: float, dy: float) -> SceneArrays:
        """The scene with the boxes that far from where they started."""
        start = self._start
        visible, boxes = start.visible, self._boxes
        self._rects[boxes, :2] = start.rects[boxes, :2] + (dx, dy)
        obstacles = Obstacles(self._rects[boxes], self._standing)
        self._routes.put(self._within, start.routes.taken(self._within).shifted(dx, dy))
        ports = _link_ports(visible, self._rects, self._links)
        self._routes.put(self._links, routed(ports, obstacles))
        return SceneArrays(visible, self._rects, self._routes, start, start.raised)


def _link_ports(visible: VisibleGraph, rects: np.ndarray, links: np.ndarray) -> np.ndarray:
    """From where to where some links (their numbers) are drawn. float64[k, 2, 2]."""
    ports, hubs = joined_ports(visible, rects, links), visible.hubs
    late, early = hubs.at_target[links], hubs.at_source[links]
    ports[late, 0] = ports[late, 1] - (STUB, 0.0)
    ports[early, 1] = ports[early, 0] + (STUB, 0.0)
    return ports


def joined_ports(visible: VisibleGraph, rects: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Which ports some links (their numbers) join. float64[k, 2, 2]."""
    ends, ports, control = visible.ends[links], visible.end_ports[links], visible.control[links]
    starts = _ports(visible, rects, ends[:, 0], ports[:, 0], OUT)
    stops = _ports(visible, rects, ends[:, 1], ports[:, 1], INTO)
    starts[control, 1] = rects[ends[control, 0], 1] + TITLE / 2  # control wires join the titles
    stops[control, 1] = rects[ends[control, 1], 1] + TITLE / 2
    return np.stack([starts, stops], axis=1)


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


EMPTY = SceneArrays.of(VisibleGraph(), {})  # while nothing is shown
