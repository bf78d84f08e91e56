"""The painter of the graph's structure: any rectangle, at any scale, on any paint device.

The canvas, the minimap and exported pictures all draw through it. It holds no item per node:
it culls arrays, draws in batches, and leaves out what a scale is too small for.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstep.core.layout.nested_scopes import SIDE, TITLE
from gradstep.gui.canvas.paint import batch_drawing
from gradstep.gui.canvas.paint.hub_painter import HubPainter
from gradstep.gui.canvas.paint.link_painter import LinkPainter
from gradstep.gui.canvas.paint.loop_painter import LoopPainter
from gradstep.gui.canvas.paint.node_cards import Cards
from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.scene.level_of_detail import MOST_FAR_LINKS, Detail, text_size
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import EMPTY, SceneArrays
from gradstep.gui.canvas.scene.scene_boxes import KINDS
from gradstep.gui.canvas.scene.scope_frames import Frame
from gradstep.gui.look.theme import Theme, fade, mix

GRID = 24.0  # scene units between the dots of the background
TITLE_FAR = 14.0  # pixels, height of a frame's title in a far view
FRAME = 0.03  # opacity of a frame, each upon the one outside


# What was found last: in which scene, between which sides.
_Stood = tuple[SceneArrays, tuple[float, ...], tuple[np.ndarray, np.ndarray]]


class GraphPainter:
    """Set `arrays` and `theme`, then paint. `lifted` (bool[n]) are boxes to leave out, with their
    links, because something else draws them. A far view has `most_far_links` at most."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.labels = Labels()
        self.arrays = EMPTY
        self.lifted: np.ndarray | None = None
        self.titles: Mapping[str, str] = {}  # of the frames of loops, by their While
        self.most_far_links = MOST_FAR_LINKS
        self._stood: _Stood | None = None

    def paint(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        """Everything that touches `rect` (scene units), but the lifted boxes and their links.

        scale: pixels per scene unit of `painter`, which draws in scene units.
        """
        self.paint_frames(painter, rect, scale)
        boxes, links = self.standing(rect)
        self.paint_some(painter, boxes, links, scale)

    def standing(self, rect: QRectF) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (bool[n]) and links (bool[m]) that touch `rect` and are not lifted."""
        sides = (rect.left() - 16, rect.top() - 16, rect.right() + 16, rect.bottom() + 16)
        boxes, links = self._all_standing(self.arrays, sides)
        if self.lifted is not None:
            boxes = boxes & ~self.lifted
            links = links & ~self.arrays.links_of(self.lifted)
        return boxes, links

    def _all_standing(
        self, arrays: SceneArrays, sides: tuple[float, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same, lifted or not; it is asked again and again of what is in view."""
        known = self._stood
        if known is None or known[0] is not arrays or known[1] != sides:
            found = arrays.boxes_in(*sides), arrays.links_in(*sides)
            for each in found:
                each.setflags(write=False)
            known = self._stood = arrays, sides, found
        return known[2]

    def paint_some(
        self, painter: QPainter, boxes: np.ndarray, links: np.ndarray, scale: float
    ) -> None:
        """The boxes (bool[n]) and links (bool[m]) chosen."""
        detail = Detail.at(scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, detail > Detail.DOTS)
        LinkPainter(self.theme, self.arrays, self.most_far_links).draw(painter, links, scale)
        if detail < Detail.NAMES:
            self._far_boxes(painter, boxes, detail, scale)
        else:
            HubPainter(self.theme, self.labels, self.arrays).draw(painter, boxes, scale)
            cards = Cards(self.theme, self.labels, self.arrays)
            for number in self.arrays.from_below(boxes).tolist():
                cards.draw(painter, number, scale)

    def paint_frames(
        self, painter: QPainter, rect: QRectF, scale: float, titles: bool = True
    ) -> None:
        """Those that touch `rect` (scene units), the outer ones below."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        pen = QPen(self.theme.line, 1)
        pen.setCosmetic(True)
        left, top, right, bottom = sides_of(rect)
        bottom += TITLE_FAR / scale
        for frame in self.arrays.frames:
            x, y, width, height = frame.rect
            if x < right and y < bottom and x + width > left and y + height > top:
                painter.setPen(pen)
                painter.setBrush(fade(self.theme.text, FRAME))
                painter.drawRoundedRect(QRectF(x, y, width, height), SIDE / 2, SIDE / 2)
                if frame.loop and Detail.at(scale) > Detail.DOTS:
                    LoopPainter(self.theme, self.arrays).draw(painter, frame, scale)
                if titles:
                    self._frame_title(painter, frame, scale)

    def _frame_title(self, painter: QPainter, frame: Frame, scale: float) -> None:
        """In its upper edge; from afar, where that is too low, above the frame that is around all
        others."""
        labels, font, detail = self.labels, self.labels.title, Detail.at(scale)
        x, y, width, _ = frame.rect
        size = text_size(scale)
        at = QPointF(x + SIDE, y + labels.middle(0, TITLE, font, size))
        if detail < Detail.NAMES:
            if detail is Detail.DOTS or not frame.outer:
                return
            size = TITLE_FAR / (labels.height(font) * scale)
            at = QPointF(x, y - TITLE_FAR / scale)
        room = x + width - at.x()
        title = self.titles.get(frame.loop, frame.title)
        labels.draw(painter, at, title, font, self.theme.muted, room, size=size)

    def background(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        """The canvas colour and its dots."""
        painter.fillRect(rect, self.theme.background)
        step = GRID * (1 if scale >= 0.6 else 4)
        if step * scale < 12:
            return
        xs = np.arange(np.floor(rect.left() / step) * step, rect.right() + step, step)
        ys = np.arange(np.floor(rect.top() / step) * step, rect.bottom() + step, step)
        pen = QPen(self.theme.grid, 2 if scale >= 1 else 1.5)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        batch_drawing.points(painter, np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2))

    def _far_boxes(
        self, painter: QPainter, boxes: np.ndarray, detail: Detail, scale: float
    ) -> None:
        """One call per colour. Far boxes are at least two pixels wide."""
        rects = self.arrays.rects.copy()
        rects[:, 2:] = np.maximum(rects[:, 2:], 2 / scale)
        painter.setPen(Qt.PenStyle.NoPen)
        for kind, token in enumerate(KINDS):
            chosen = rects[boxes & (self.arrays.visible.kinds == kind)]
            color = getattr(self.theme, token)
            painter.setBrush(mix(self.theme.raised, color, 0.45))
            batch_drawing.rects(painter, chosen)
            if detail > Detail.DOTS:
                stripe = chosen.copy()
                stripe[:, 2] = 10.0
                painter.setBrush(color)
                batch_drawing.rects(painter, stripe)
