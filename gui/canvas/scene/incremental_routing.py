"""The links after an edit: those that it did not touch run as they did."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from gradstep.gui.canvas.scene.link_detours import routed
from gradstep.gui.canvas.scene.link_routing import Routes
from gradstep.gui.canvas.scene.obstacles import Obstacles
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.scene_arrays import SceneArrays

_ID = attrgetter("id")
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
    if before is None or not len(before.routes):
        return routed(find_ports(np.arange(len(visible.links))), Obstacles(rects))
    stay = np.array_equal(rects, before.rects)  # whatever the boxes are called
    boxes = None if stay else _boxes_before(visible, before.visible)
    came, gone = _moved(boxes, rects, before.rects)
    if max(len(came), len(gone)) > MANY:
        return routed(find_ports(np.arange(len(visible.links))), Obstacles(rects))
    links = _links_before(visible, boxes, before.visible)
    routes = before.routes
    stale = np.zeros(len(routes), dtype=bool)  # by the numbers before
    for rect in np.concatenate([rects[came], before.rects[gone]]):
        stale |= routes.concern(rect)
    if links is not None:
        stale = stale[links] | (links < 0)
    doubtful = np.flatnonzero(~stale & _lead_otherwise(visible, boxes, came, links, before.visible))
    was = doubtful if links is None else links[doubtful]
    stale[doubtful] = (routes.ports[was] != find_ports(doubtful)).any(axis=(1, 2))
    anew = np.flatnonzero(stale)
    if not len(anew):
        return routes if links is None else routes.taken(links)
    ports = find_ports(anew)
    return routes.with_others(anew, routed(ports, Obstacles(_between(ports, rects))), links)


def _moved(
    boxes: np.ndarray | None, rects: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of boxes that do not stand where they stood, now and before. boxes: the number
    that each had; rects, before: float64[n, 4]."""
    if boxes is None:
        moved = np.unique(np.flatnonzero(rects.ravel() != before.ravel()) // rects.shape[1])
        return moved, moved
    same = (boxes >= 0) & (before[boxes] == rects).all(axis=1)
    left = np.ones(len(before), dtype=bool)
    left[boxes[same]] = False
    return np.flatnonzero(~same), np.flatnonzero(left)


def _lead_otherwise(
    visible: VisibleGraph,
    boxes: np.ndarray | None,
    came: np.ndarray,
    links: np.ndarray | None,
    before: VisibleGraph,
) -> np.ndarray:
    """bool[m]: links of which an end may not be where it was. boxes, links: the number that each
    had; came: the boxes that do not stand where they stood."""
    counts = before.port_counts if boxes is None else before.port_counts[boxes]
    unlike = (counts[:, 0] != visible.port_counts[:, 0]) | (
        counts[:, 1] != visible.port_counts[:, 1]
    )
    unlike[came] = True
    found = np.zeros(len(visible.ends), dtype=bool)
    if unlike.any():
        source, target = visible.ends.T
        found |= unlike[source] | unlike[target]
    for now, was in (
        (visible.hubs.at_target, before.hubs.at_target),
        (visible.hubs.at_source, before.hubs.at_source),
    ):
        if now is not was:
            found |= now != (was if links is None else was[links])
    return found


def _between(ports: np.ndarray, rects: np.ndarray) -> np.ndarray:
    """The boxes that links may go around: none leaves the room between its ports, across."""
    left, right = ports[..., 0].min() - ASIDE, ports[..., 0].max() + ASIDE
    return np.asarray(rects[(rects[:, 0] <= right) & (rects[:, 0] + rects[:, 2] >= left)])


def _boxes_before(visible: VisibleGraph, before: VisibleGraph) -> np.ndarray | None:
    """The number that each box had, -1 for none, int64[n]; None where each has the same."""
    if visible.number is before.number:
        return None
    found = map(before.number.get, map(_ID, visible.boxes), repeat(-1))
    return np.fromiter(found, np.int64, len(visible.boxes))


def _links_before(
    visible: VisibleGraph, boxes: np.ndarray | None, before: VisibleGraph
) -> np.ndarray | None:
    """The number that each link had, -1 for none, int64[m]; None where each has the same. boxes: as
    `_boxes_before` gives."""
    if visible.links is before.links:
        return None
    known = visible.numbers_in(before)
    if known is None:
        known = _matched(visible, boxes, before)
    is_same = len(known) == len(before.links) and np.array_equal(known, np.arange(len(known)))
    return None if is_same else known


def _matched(visible: VisibleGraph, boxes: np.ndarray | None, before: VisibleGraph) -> np.ndarray:
    """The same by what links join, where no edit leads from the one to the other."""
    sizes = (
        len(before.boxes),
        int(max(visible.end_ports.max(initial=0), before.end_ports.max())) + 1,
    )
    old = _keys(before.ends, before, *sizes)
    ends = visible.ends if boxes is None else boxes[visible.ends]
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
