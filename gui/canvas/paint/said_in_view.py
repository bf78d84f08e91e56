"""What the canvas says over its boxes and links, in values that can be compared.

Where two of them differ, the picture is painted anew. `RuntimePainter` draws from the same facts.
What a new one of them draws by has to be here as well; tests/gui/canvas/test_same_picture.py tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QRectF

from gradstep.gui.canvas.paint.node_cards import rows_of
from gradstep.gui.canvas.paint.picture_cards import PicturePainter, Place
from gradstep.gui.canvas.scene.level_of_detail import LARGEST_TEXT, Detail, text_size
from gradstep.gui.canvas.scene.node_values import NodeValues
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays

MARKS = 16.0 * LARGEST_TEXT  # scene units around a box, or a link, that its marks take at most
LEAST = 8.0  # pixels around what is small from afar


@dataclass(frozen=True)
class Said:
    """Of some boxes and links, by their numbers; where nothing is said, nothing.

    whole: what may look otherwise anywhere. beside: what stands beside its box, where that leaves
    room: another box's may have to yield to it. pictures: of boxes by their numbers, with the place
    of each, x, y, width, height in scene units, if it has one."""

    boxes: Mapping[int, object]
    links: Mapping[int, object]
    whole: object = None
    beside: tuple[object, ...] = ()
    pictures: Mapping[int, tuple[object, Place | None]] = field(default_factory=dict)

    def changed_since(self, before: Said, arrays: SceneArrays, scale: float) -> list[QRectF] | None:
        """Where to paint anew, scene units; None for everywhere."""
        boxes, links = _differing(self.boxes, before.boxes), _differing(self.links, before.links)
        if self.whole != before.whole or self.beside != before.beside:
            return None
        if self.beside and boxes:
            return None
        sides = [*map(_box_sides, arrays.rects[boxes]), *arrays.routes.bounds[links].tolist()]
        away = max(MARKS, LEAST / scale)
        around = [
            QRectF(left - away, top - away, right - left + 2 * away, bottom - top + 2 * away)
            for left, top, right, bottom in sides
        ]
        return [*around, *self._pictures_since(before)]

    def _pictures_since(self, before: Said) -> Iterator[QRectF]:
        """Where pictures came, went, or are others."""
        for box in _differing(self.pictures, before.pictures):
            for said in (self, before):
                _, place = said.pictures.get(box, (None, None))
                if place is not None:
                    yield QRectF(*place).adjusted(-1, -1, 1, 1)


def said_of(
    arrays: SceneArrays,
    facts: OverlayState,
    boxes: np.ndarray,
    links: np.ndarray,
    scale: float,
    letter: float,
    pictures: PicturePainter | None = None,
) -> Said:
    """What is said of boxes (bool[n]) and links (bool[m]). letter: width of one, as a painter's
    labels have it; pictures: what draws those of values."""
    if Detail.at(scale) < Detail.NAMES:
        return _said_far(facts, boxes, links)
    numbers = np.flatnonzero(boxes).tolist()
    updates = [(i, found[0]) for i in numbers if (found := facts.update(i)) is not None]
    drawn = pictures.places(arrays, facts, numbers, scale) if pictures is not None else {}
    beside = (*updates, *([facts.shares] if facts.shares is not None else []))
    size = text_size(scale)
    said = {i: _said_of_box(arrays, facts, i, size, letter) for i in numbers}
    drawn_out = facts.drawn_out.tobytes()
    return Said(said, dict(_said_of_links(facts, links)), drawn_out, beside, drawn)


def _said_far(facts: OverlayState, boxes: np.ndarray, links: np.ndarray) -> Said:
    current = [] if facts.current is None else [facts.current]
    marks = (facts.selected, current, facts.problems)
    marked = {i: tuple(i in mark for mark in marks) for mark in marks for i in mark if boxes[i]}
    carrying = np.flatnonzero(links).tolist() if facts.carried else ()
    whole = facts.drawn_out.tobytes(), facts.shares
    return Said(marked, {i: True for i in carrying if facts.flow(i)}, whole)


def _said_of_box(
    arrays: SceneArrays, facts: OverlayState, box: int, size: float, letter: float
) -> tuple[object, ...]:
    width = float(arrays.rects[box, 2])
    places = rows_of(arrays.visible.boxes[box], width, size, letter)
    rows = tuple(_words(facts.reading(box, g, characters)) for _, g, characters in places)
    fresh = facts.fresh is not None and facts.fresh[0] == box and facts.fresh
    return (
        box in facts.untaken,
        box in facts.problems,
        box == facts.current,
        box in facts.selected,
        facts.badges.get(box, ""),
        ("breakpoint", facts.breakpoints[box]) if box in facts.breakpoints else (),
        facts.open_inputs(box),
        fresh,
        rows,
    )


def _words(reading: NodeValues) -> tuple[object, ...]:
    tiles = b"" if reading.tiles is None else reading.tiles.tobytes()
    return reading.text, reading.tone, reading.marked, tiles


def _said_of_links(facts: OverlayState, links: np.ndarray) -> Iterator[tuple[int, object]]:
    dead, stopped = facts.dead_links | facts.untaken_links, facts.stopped_links
    crossings, carries, selected = facts.crossings, bool(facts.carried), facts.selected_link
    for i in np.flatnonzero(links).tolist():
        flow = facts.flow(i) if carries else None
        chosen = i == selected
        crossing = crossings.get(i)
        if dead[i] or stopped[i] or chosen or flow is not None or crossing is not None:
            badge = "" if crossing is None else crossing.badge
            yield i, (bool(dead[i]), bool(stopped[i]), chosen, flow, badge)


def _differing(one: Mapping[int, object], other: Mapping[int, object]) -> list[int]:
    return sorted(i for i in one.keys() | other.keys() if one.get(i) != other.get(i))


def _box_sides(rect: np.ndarray) -> tuple[float, float, float, float]:
    left, top, width, height = rect.tolist()
    return left, top, left + width, top + height
