"""Colour by cost, or by difference: each box's share, as a tint and as a number."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QRegion

from gradstep.gui.canvas.paint import batch_drawing
from gradstep.gui.canvas.paint.node_cards import RADIUS
from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.scene.box_shares import LEAST, Shares
from gradstep.gui.canvas.scene.level_of_detail import TEXT, Detail
from gradstep.gui.look import heat_colours
from gradstep.gui.look.contrast import ink_on
from gradstep.gui.look.theme import Theme, fade

LEVELS = 8  # of tint in a far view: one call each
STRENGTH = 0.20  # opacity of the hottest tint; what is written under it must stay readable
BAR = 3.0  # along the lower edge, as long as the share
PILL = 16.0


class SharePainter:
    """Draws under the marks of a run (`tint`, `far`) and over them (`say`)."""

    def __init__(self, theme: Theme, labels: Labels) -> None:
        self.theme = theme
        self._labels = labels

    def tint(self, painter: QPainter, rect: QRectF, shares: Shares, box: int) -> None:
        """One card."""
        share = float(shares.values[box])
        if share >= LEAST:
            painter.setPen(Qt.PenStyle.NoPen)
            part = share / shares.largest
            painter.setBrush(fade(self.theme.backward, 0.03 + STRENGTH * part))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)
            room = rect.adjusted(RADIUS, rect.height() - BAR, -RADIUS, 0)
            room.setWidth(room.width() * part)
            painter.setBrush(self.theme.backward)
            painter.drawRect(room)

    def far(self, painter: QPainter, rects: np.ndarray, shares: Shares, boxes: np.ndarray) -> None:
        """All boxes (bool[n]) of a far view; rects: float64[n, 4]."""
        if not shares.largest:
            return
        level = np.ceil(LEVELS * shares.values / shares.largest).astype(np.int64)
        level[shares.values < LEAST] = 0
        painter.setPen(Qt.PenStyle.NoPen)
        for number in range(LEVELS + 1):
            painter.setBrush(heat_colours.color(self.theme, number, LEVELS))
            batch_drawing.rects(painter, rects[boxes & (level == number)])

    def say(
        self, painter: QPainter, rects: np.ndarray, shares: Shares, boxes: np.ndarray, scale: float
    ) -> None:
        """The numbers, on the lower edges; never smaller than can be read, and from afar only
        the largest of those that would lie over each other."""
        far = Detail.at(scale) < Detail.FULL
        boxes = boxes & (shares.foremost if far else shares.values >= LEAST)
        numbers = np.flatnonzero(boxes)
        grown, taken = max(1.0, TEXT / scale), QRegion()
        for box in numbers[np.argsort(-shares.values[numbers])].tolist():
            x, y, width, height = rects[box].tolist()
            text = shares.text(box)
            pill = self._pill(text)
            place = QRectF(pill.topLeft() * grown, pill.size() * grown)
            spot = place.translated(x + width, y + height).toAlignedRect()
            if far and taken.intersects(spot):
                continue
            taken += spot
            painter.save()
            painter.translate(x + width, y + height)
            painter.scale(grown, grown)
            color = heat_colours.color(self.theme, float(shares.values[box]), shares.largest)
            self._write(painter, pill, text, color)
            painter.restore()

    def _pill(self, text: str) -> QRectF:
        """A rounded label, its middle right near the lower right corner of a card (0, 0)."""
        width = self._labels.width(text, self._labels.number) + 14
        return QRectF(-8 - width, -PILL / 2, width, PILL)

    def _write(self, painter: QPainter, pill: QRectF, text: str, color: QColor) -> None:
        labels = self._labels
        painter.setPen(self.theme.line)
        painter.setBrush(color)
        painter.drawRoundedRect(pill, PILL / 2, PILL / 2)
        at = pill.topLeft() + QPointF(7, (PILL - labels.height(labels.number)) / 2)
        labels.draw(painter, at, text, labels.number, ink_on(color), pill.width())
