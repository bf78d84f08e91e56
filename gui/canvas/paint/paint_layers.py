"""The canvas's layers, from the back: dots, graph, what the run says, and what is being moved."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QPainter, QRegion

from gradstep.gui.canvas.paint import paint_order
from gradstep.gui.canvas.paint.changed_places import Changed, changed_places
from gradstep.gui.canvas.paint.front_buffer import FrontBuffer
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.picture_cards import AWAY, REACH
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.paint.said_in_view import MARKS, Said, said_of
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.theme import Theme

_HIGH = max(MARKS, REACH)  # scene units over and under a box that what is said of it takes
_WIDE = max(MARKS, AWAY)  # and on its left


class Layers:
    """Two kept pictures: the graph's structure, which edits change, and over it what a step
    changes. Boxes that are being dragged are painted each time, over one picture of both."""

    def __init__(self, stage: SceneModel, camera: Camera, theme: Theme) -> None:
        self._stage = stage
        self._camera = camera
        self.painter = GraphPainter(theme)
        self.runtime = RuntimePainter(theme, self.painter.labels)
        self.runtime.pictures.pictures = stage.pictures
        self._structure = FrontBuffer(self._paint_structure)
        self._facts = FrontBuffer(self._paint_facts, transparent=True)
        self._rest = FrontBuffer(self._paint_rest)  # of what is being dragged
        self._said: Said | None = None  # what `_facts` shows; None for nothing of use
        self._shown: tuple[QRect, float] = QRect(), 0.0  # where, and how large
        self._drawn: SceneArrays | None = None  # what both pictures show; None for nothing of use

    def set_theme(self, theme: Theme) -> None:
        self.painter.theme = self.runtime.theme = theme
        self.refresh()

    def lift(self, boxes: np.ndarray | None) -> None:
        """Take boxes (bool[n]) and their links out of the pictures, or put them back."""
        self.painter.lifted = boxes
        self.refresh()

    def refresh(self) -> None:
        """All looks otherwise."""
        self._structure.invalidate()
        self._facts.invalidate()
        self._rest.invalidate()
        self._said = self._drawn = None

    def follow_edit(self) -> QRegion:
        """The graph changed: what it did not change is still shown as it was. Where it did: pixels
        of the viewport."""
        changed, said = self._find_edited(), self._said
        if changed is None or said is None:
            self.refresh()
            return self._everywhere
        self._rest.invalidate()
        region, scale = QRegion(), self._facts.scale
        for place in changed.places:
            region += _pixels_of(place, scale)
        self._structure.invalidate_part(region)
        self._facts.invalidate_part(region)
        self._said, self._drawn = changed.renumbered(said), self._stage.arrays
        return self._seen(region)

    @property
    def _everywhere(self) -> QRegion:
        return QRegion(QRect(QPoint(), self._camera.pixels.size()))

    def _seen(self, region: QRegion) -> QRegion:
        """The pixels of the viewport among those of the scene."""
        view = self._camera.pixels
        return (region & view).translated(-view.topLeft())

    def _find_edited(self) -> Changed | None:
        """Where the pictures show another graph than there is now; None for everywhere."""
        area, scale, drawn = self._facts.area, self._facts.scale, self._drawn
        kept = not area.isEmpty() and self._structure.area == area
        if not drawn or not kept or self.painter.lifted is not None:  # of none, words are shown
            return None
        if scale != self._camera.scale or Detail.at(scale) < Detail.NAMES:
            return None
        return changed_places(drawn, self._stage.arrays, _around(_scene_of(area, scale)))

    def refresh_facts(self) -> QRegion:
        """Only what is said of the graph changed. Where that is seen: pixels of the viewport."""
        self._rest.invalidate()
        parts = self._find_changed()
        if self.painter.titles != self._stage.facts.loop_titles:
            self._structure.invalidate()
            parts = None
        if parts is None:
            self._facts.invalidate()
            return self._everywhere
        region = QRegion()
        for part in parts:
            region += _pixels_of(part, self._facts.scale)
        self._facts.invalidate_part(region)
        return self._seen(region)

    def _find_changed(self) -> list[QRectF] | None:
        """Where the picture of what is said differs from what is said now, scene units; None for
        everywhere."""
        area, scale, before = self._facts.area, self._facts.scale, self._said
        is_other = scale != self._camera.scale or self.painter.lifted is not None
        if before is None or area.isEmpty() or is_other:
            self._said = None
            return None
        self._said = self._say(area, scale)
        return self._said.changed_since(before, self._stage.arrays, scale)

    def _say(self, area: QRect, scale: float) -> Said:
        """What is to be seen in some pixels of the scene at that scale."""
        self.painter.arrays = self._stage.arrays
        boxes, links = self.painter.standing(_around(_scene_of(area, scale)))
        letter = self.painter.labels.letter
        arrays, facts, pictures = self._stage.arrays, self._stage.facts, self.runtime.pictures
        return said_of(arrays, facts, boxes, links, scale, letter, pictures)

    def draw(self, painter: QPainter, ratio: float) -> None:
        """Everything, on a painter in viewport pixels. ratio: device pixels per pixel."""
        self.painter.arrays = self._stage.arrays
        camera = self._camera
        if camera.zooming:  # seen around the scaled picture of a large graph
            painter.fillRect(QRect(QPoint(), camera.pixels.size()), self.painter.theme.background)
        lifting = self.painter.lifted is not None
        for buffer in (self._rest,) if lifting else (self._structure, self._facts):
            buffer.show(painter, camera.pixels, camera.scale, ratio, camera.zooming)
        if not lifting:
            self._note_shown()
            self._drawn = self._stage.arrays
        if lifting:
            self._draw_lifted(painter)

    def _note_shown(self) -> None:
        """Remember what the picture says, which other facts are compared with."""
        area, scale = self._facts.area, self._facts.scale
        if self._said is None or self._shown != (area, scale):
            self._said, self._shown = self._say(area, scale), (area, scale)

    def _draw_lifted(self, painter: QPainter) -> None:
        arrays, scale, lifted = self._stage.arrays, self._camera.scale, self.painter.lifted
        assert lifted is not None  # asked before
        painter.save()
        painter.translate(-self._camera.pixels.topLeft())
        painter.scale(scale, scale)
        self._paint_both(painter, lifted, arrays.links_of(lifted), scale)
        painter.restore()

    def _paint_structure(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        self.painter.titles = self._stage.facts.loop_titles
        self.painter.background(painter, rect, scale)
        self.painter.paint(painter, rect, scale)

    def _paint_facts(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        arrays, facts = self._stage.arrays, self._stage.facts
        boxes, links = self._told(rect, scale)
        paint_order.paint_facts(painter, arrays, self.runtime, facts, boxes, links, scale)

    def _paint_rest(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        self.painter.titles = self._stage.facts.loop_titles
        self.painter.background(painter, rect, scale)
        self.painter.paint_frames(painter, rect, scale)
        self._paint_both(painter, *self._told(rect, scale), scale)

    def _told(self, rect: QRectF, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (bool[n]) and links (bool[m]) of which something may be said in a rectangle of the
        scene."""
        (boxes, links), lifted = self.painter.standing(_around(rect)), self.painter.lifted
        shares = self._stage.facts.shares
        if shares is not None and Detail.at(scale) < Detail.FULL:  # labels that reach far, and
            more = shares.foremost  # yield to each other
            boxes = boxes | (more if lifted is None else more & ~lifted)
        return boxes, links

    def _paint_both(
        self, painter: QPainter, boxes: np.ndarray, links: np.ndarray, scale: float
    ) -> None:
        facts = self._stage.facts
        paint_order.paint_both(painter, self.painter, self.runtime, facts, boxes, links, scale)


def _around(rect: QRectF) -> QRectF:
    """Where boxes stand of which something is said in a rectangle of the scene."""
    return rect.adjusted(-MARKS, -_HIGH, _WIDE, _HIGH)


def _pixels_of(part: QRectF, scale: float) -> QRect:
    """The pixels that a part of the scene touches."""
    return QRectF(part.topLeft() * scale, part.size() * scale).toAlignedRect()


def _scene_of(area: QRect, scale: float) -> QRectF:
    return QRectF(QPointF(area.topLeft()) / scale, QSizeF(area.size()) / scale)
