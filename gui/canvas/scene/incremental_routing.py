"""The links after an edit: those that it did not touch run as they did."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gradstep.gui.canvas.scene.link_detours import routed
from gradstep.gui.canvas.scene.link_routing import Routes
from gradstep.gui.canvas.scene.obstacles import Obstacles
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.scene_arrays import SceneArrays

ASIDE = 64.0  # scene units; more than what a link keeps clear of boxes
MANY = 64  # boxes that changed; if there are more, all links are routed anew


def rerouted(
    visible: VisibleGraph,
    rects: np.ndarray,
    find_ports: Callable[[np.ndarray], np.ndarray],
    before: SceneArrays | None,
) -> Routes:
    """What `routed` gives of links among boxes (rects: float64[n, 4]). find_ports: of the numbers
    of some links from where to where they lead, float64[k, 2, 2]. before: a scene that had most of
    both, or None."""
    every = np.arange(len(visible.links))
    if before is None or not len(before.routes):
        return routed(find_ports(every), Obstacles(rects))
    stay = np.array_equal(rects, before.rects)  # whatever the boxes are called
    boxes = np.arange(len(rects)) if stay else _boxes_before(visible, before.visible)
    same = (boxes >= 0) & (before.rects[boxes] == rects).all(axis=1)
    gone = np.ones(len(before), dtype=bool)
    gone[boxes[same]] = False
    if max(gone.sum(), (~same).sum()) > MANY:
        return routed(find_ports(every), Obstacles(rects))
    links = _links_before(visible, boxes, before.visible)
    routes = before.routes.taken(links)
    new = links < 0
    doubtful = np.flatnonzero(new | ~_lead_alike(visible, boxes, same, links, before.visible))
    ports = find_ports(doubtful)
    stale = new
    stale[doubtful] |= (routes.ports[doubtful] != ports).any(axis=(1, 2))
    for rect in np.concatenate([rects[~same], before.rects[gone]]):
        stale |= routes.concern(rect)
    anew = np.flatnonzero(stale)
    if not len(anew):
        return before.routes if np.array_equal(links, np.arange(len(before.routes))) else routes
    ports = find_ports(anew)
    return routes.with_others(anew, routed(ports, Obstacles(_between(ports, rects))))


def _lead_alike(
    visible: VisibleGraph,
    boxes: np.ndarray,
    same: np.ndarray,
    links: np.ndarray,
    before: VisibleGraph,
) -> np.ndarray:
    """bool[m]: links whose ends are where they were. boxes, links: the number that each had; same:
    bool[n], the boxes that stand where they stood."""
    outputs, inputs = (before.port_counts[boxes] == visible.port_counts).T
    like, (source, target) = same & outputs & inputs, visible.ends.T
    found = like[source] & like[target]
    for now, was in (
        (visible.hubs.at_target, before.hubs.at_target),
        (visible.hubs.at_source, before.hubs.at_source),
    ):
        found &= now == was[links]
    return np.asarray(found)


def _between(ports: np.ndarray, rects: np.ndarray) -> np.ndarray:
    """The boxes that links may go around: none leaves the room between its ports, across."""
    left, right = ports[..., 0].min() - ASIDE, ports[..., 0].max() + ASIDE
    return np.asarray(rects[(rects[:, 0] <= right) & (rects[:, 0] + rects[:, 2] >= left)])


def _boxes_before(visible: VisibleGraph, before: VisibleGraph) -> np.ndarray:
    """The number that each box had, -1 for none. int64[n]."""
    if visible.number is before.number:
        return np.arange(len(visible.boxes))
    known = before.number
    found = (known.get(box.id, -1) for box in visible.boxes)
    return np.fromiter(found, np.int64, len(visible.boxes))


def _links_before(visible: VisibleGraph, boxes: np.ndarray, before: VisibleGraph) -> np.ndarray:
    """The number that each link had, -1 for none; boxes: as `_boxes_before` gives. int64[m]."""
    if visible.links is before.links:
        return np.arange(len(visible.links))
    known = visible.numbers_in(before)
    if known is not None:
        return known
    sizes = (
        len(before.boxes),
        int(max(visible.end_ports.max(initial=0), before.end_ports.max())) + 1,
    )
    old = _keys(before.ends, before, *sizes)
    ends = boxes[visible.ends]
    keys = np.where((ends < 0).any(axis=1), -1, _keys(ends, visible, *sizes))
    order = np.argsort(old)
    found = order[np.minimum(np.searchsorted(old, keys, sorter=order), len(old) - 1)]
    return np.where(old[found] == keys, found, -1)


def _keys(ends: np.ndarray, visible: VisibleGraph, boxes: int, ports: int) -> np.ndarray:
    """A number for each link that no other one of the same scene has; ends: int64[m, 2], as boxes
    were numbered before."""
    (source, target), (out, into) = ends.T, visible.end_ports.T
    keys = ((source * boxes + target) * ports + out) * 2 * ports + 2 * into + visible.control
    return np.asarray(keys)
