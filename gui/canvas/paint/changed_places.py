"""Where the picture of a graph looks otherwise after an edit: around what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF

from gradstep.core.layout.nested_scopes import SIDE, TITLE
from gradstep.gui.canvas.paint.said_in_view import MARKS, Said
from gradstep.gui.canvas.scene.hubs import Hubs
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays

MANY = 64  # boxes, links or frames; if more differ, all is painted
_Sides = tuple[float, float, float, float]  # left, top, right, bottom, scene units


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
    have other numbers, there are other frames or hubs, or too much is otherwise."""
    old, new = before.visible, now.visible
    if len(old.boxes) != len(new.boxes) or not _same_hubs(old.hubs, new.hubs):
        return None
    boxes = _changed_boxes(before, now, area)
    frames = _changed_frames(before, now, area)
    links = _links(before, now, area)
    if boxes is None or frames is None or links is None:
        return None
    gone, come, numbers = links
    sides = [*map(_sides, [*before.rects[boxes].tolist(), *now.rects[boxes].tolist()]), *frames]
    sides += [*before.routes.bounds[gone].tolist(), *now.routes.bounds[come].tolist()]
    return Changed([_around(*each) for each in sides], numbers)


def _around(left: float, top: float, right: float, bottom: float) -> QRectF:
    return QRectF(left - MARKS, top - MARKS, right - left + 2 * MARKS, bottom - top + 2 * MARKS)


def _changed_frames(before: SceneArrays, now: SceneArrays, area: QRectF) -> list[_Sides] | None:
    """Where those that reach into an area look otherwise; None where there are others, or too many
    of them do."""
    old, new = before.frames, now.frames
    if old is new:
        return []
    kinds = ([(f.title, f.scope, f.outer, f.loop) for f in frames] for frames in (old, new))
    if next(kinds) != next(kinds):
        return None
    found = list[_Sides]()
    for one, other in zip(old, new, strict=True):
        if one.rect != other.rect:
            there = QRectF(*one.rect) | QRectF(*other.rect)
            if there.intersects(area):
                edges = _edges(_sides(one.rect), _sides(other.rect))
                found += [sides_of(there)] if one.loop else edges
    return found if len(found) <= MANY else None


def _edges(one: _Sides, other: _Sides) -> list[_Sides]:
    """Between which sides a frame looks otherwise after it was another one: along each edge that is
    elsewhere, and in its title, which has as much room as it is wide."""
    left, top, right, bottom = map(min, zip(one, other, strict=True))
    far_left, far_top, far_right, far_bottom = map(max, zip(one, other, strict=True))
    found = list[_Sides]()
    if left != far_left:
        found.append((left, top, far_left + SIDE, far_bottom))
    if right != far_right:
        found.append((right - SIDE, top, far_right, far_bottom))
    if top != far_top or found:
        found.append((left, top, far_right, far_top + TITLE))
    if bottom != far_bottom:
        found.append((left, bottom - SIDE, far_right, far_bottom))
    return found


def _sides(rect: Sequence[float]) -> _Sides:
    x, y, width, height = rect
    return x, y, x + width, y + height


def _same_hubs(old: Hubs, new: Hubs) -> bool:
    looks = ([(h.box, h.port, h.is_output, len(h.links)) for h in hubs.all] for hubs in (old, new))
    return next(looks) == next(looks)


def _changed_boxes(before: SceneArrays, now: SceneArrays, area: QRectF) -> list[int] | None:
    """The numbers of those in an area that are others, or elsewhere, or over others; None for too
    many."""
    sides, old, new = sides_of(area), before.visible.boxes, now.visible.boxes
    near = np.flatnonzero(before.boxes_in(*sides) | now.boxes_in(*sides))
    elsewhere = (before.rects[near] != now.rects[near]).any(axis=1).tolist()
    over = {*before.raised, *now.raised} if before.raised != now.raised else set()
    found = [
        number
        for number, moved in zip(near.tolist(), elsewhere, strict=True)
        if moved or number in over or old[number] != new[number]
    ]
    return found if len(found) <= MANY else None


_Links = tuple[list[int], list[int], Mapping[int, int] | None]


def _links(before: SceneArrays, now: SceneArrays, area: QRectF) -> _Links | None:
    """Of those in an area, which are not there any more (by the numbers before), which were not
    there (by those of now), and what the others are called now."""
    sides = sides_of(area)
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
