"""Where the picture of a graph looks otherwise after an edit: around what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress, count
from operator import is_not

import numpy as np
from PySide6.QtCore import QRectF

from gradstep.gui.canvas.paint.said_in_view import MARKS, Said
from gradstep.gui.canvas.scene.hubs import Hubs
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays

MANY = 64  # boxes or links; if more differ, all is painted


@dataclass(frozen=True)
class Changed:
    """places: scene units. now: the number that each link has, by that before; None for the same
    ones."""

    places: list[QRectF]
    now: Mapping[int, int] | None

    def renumbered(self, said: Said) -> Said:
        """What was said of the scene before, by the numbers that links have now."""
        if self.now is None or not said.links:
            return said
        links = {self.now[i]: words for i, words in said.links.items() if i in self.now}
        return Said(said.boxes, links, said.whole, said.beside, said.pictures)


def changed_places(before: SceneArrays, now: SceneArrays, area: QRectF) -> Changed | None:
    """Of what is seen in a part of the scene, near by. None where all of it is to be painted: boxes
    have other numbers, frames or hubs are others, or too much is."""
    old, new = before.visible, now.visible
    if len(old.boxes) != len(new.boxes):
        return None
    if not _same_frames(before, now) or not _same_hubs(old.hubs, new.hubs):
        return None
    boxes = _changed_boxes(before, now)
    links = _links(before, now, area)
    if boxes is None or links is None:
        return None
    gone, come, numbers = links
    rects = [*before.rects[boxes], *now.rects[boxes]]
    sides = [(x, y, x + width, y + height) for x, y, width, height in map(np.ndarray.tolist, rects)]
    sides += [*before.routes.bounds[gone].tolist(), *now.routes.bounds[come].tolist()]
    return Changed([_around(*each) for each in sides], numbers)


def _around(left: float, top: float, right: float, bottom: float) -> QRectF:
    return QRectF(left - MARKS, top - MARKS, right - left + 2 * MARKS, bottom - top + 2 * MARKS)


def _same_frames(before: SceneArrays, now: SceneArrays) -> bool:
    old, new = before.frames, now.frames
    if old is new:
        return True
    looks = ([(f.title, f.rect, f.outer, f.loop) for f in frames] for frames in (old, new))
    return next(looks) == next(looks)


def _same_hubs(old: Hubs, new: Hubs) -> bool:
    looks = ([(h.box, h.port, h.is_output, len(h.links)) for h in hubs.all] for hubs in (old, new))
    return next(looks) == next(looks)


def _changed_boxes(before: SceneArrays, now: SceneArrays) -> list[int] | None:
    """The numbers of those that are others, or elsewhere, or over others; None for too many."""
    old, new = before.visible.boxes, now.visible.boxes
    others = [*compress(count(), map(is_not, old, new))] if old is not new else []
    found = {i for i in others if old[i] != new[i]}
    if before.rects is not now.rects:
        found.update(np.flatnonzero((before.rects != now.rects).any(axis=1)).tolist())
    if before.raised != now.raised:
        found.update(before.raised, now.raised)
    return sorted(found) if len(found) <= MANY else None


_Links = tuple[list[int], list[int], Mapping[int, int] | None]


def _links(before: SceneArrays, now: SceneArrays, area: QRectF) -> _Links | None:
    """Of those in an area, which are not there any more (by the numbers before), which were not
    there (by those of now), and what the others are called now."""
    sides = area.left(), area.top(), area.right(), area.bottom()
    old, new = before.visible, now.visible
    if old.links is new.links:
        near = np.flatnonzero(before.links_in(*sides) | now.links_in(*sides))
        differ = near[_run_otherwise(before, now, near, near)].tolist()
        return (differ, differ, None) if len(differ) <= MANY else None
    was = new.numbers_in(old)
    if was is None:
        return None
    known = np.zeros(len(old.links), dtype=bool)
    known[was[was >= 0]] = True
    seen = before.links_in(*sides)
    gone = np.flatnonzero(~known & seen)
    near = np.flatnonzero(now.links_in(*sides))
    come, near = near[was[near] < 0], near[was[near] >= 0]
    there = np.flatnonzero(was >= 0)
    kept = np.union1d(near, there[seen[was[there]]])
    differ = kept[_run_otherwise(before, now, was[kept], kept)]
    if len(gone) + len(come) + len(differ) > MANY:
        return None
    numbers = dict(zip(was[kept].tolist(), kept.tolist(), strict=True))
    return [*gone.tolist(), *was[differ].tolist()], [*come.tolist(), *differ.tolist()], numbers


def _run_otherwise(
    before: SceneArrays, now: SceneArrays, old: np.ndarray, new: np.ndarray
) -> np.ndarray:
    """bool[k]: links (their numbers before, and now) that are drawn otherwise."""
    one, other = before.routes, now.routes
    found = before.visible.hubs.stubs[old] != now.visible.hubs.stubs[new]
    if one is not other:
        found |= (one.curves[old] != other.curves[new]).any(axis=(1, 2, 3))
        found |= one.counts[old] != other.counts[new]
    return np.asarray(found)
