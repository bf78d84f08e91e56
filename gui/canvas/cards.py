"""The look of one node near by: card, title row with its stripe, row letters, ports."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gui.canvas.arrays import PADDING, ROW, TITLE, SceneArrays
from gui.canvas.boxes import KINDS
from gui.canvas.detail import Detail
from gui.canvas.labels import Elide, Labels
from gui.theme import Theme, faded

RADIUS = 6.0
STRIPE = 3.0
INSET = 12.0  # from the left side to the text
LETTERS = INSET + 14.0  # from the left side to the values
PORT = 3.5
# Offset downwards, growth and opacity of the shadow's layers.
SHADOW = ((2.0, 2.0, 0.05), (1.5, 1.0, 0.08), (1.0, 0.5, 0.10))


def row_top(row: int) -> float:
    """Distance from a node's upper side to row number `row` (0: the value, 1: the gradient)."""
    return TITLE + PADDING / 2 + ROW * row


@cache
def title_shape(width: float, height: float) -> QPainterPath:
    """The title row: round above, square below (round all over when it is the whole card)."""
    shape = QPainterPath()
    shape.addRoundedRect(QRectF(0, 0, width, height), RADIUS, RADIUS)
    if height > TITLE:
        shape &= _rect_path(QRectF(0, 0, width, TITLE))
    return shape


@cache
def stripe_shape(height: float) -> QPainterPath:
    """The left edge of the title row, following its round corner."""
    return title_shape(40.0, height) & _rect_path(QRectF(0, 0, STRIPE, TITLE))


def _rect_path(rect: QRectF) -> QPainterPath:
    path = QPainterPath()
    path.addRect(rect)
    return path


class Cards:
    """Draws nodes one by one; only for those that are seen near by."""

    def __init__(self, theme: Theme, labels: Labels, arrays: SceneArrays) -> None:
        self._theme = theme
        self._labels = labels
        self._arrays = arrays

    def draw(self, painter: QPainter, number: int, detail: Detail) -> None:
        """Node `number`, without what a run knows of it."""
        x, y, width, height = self._arrays.rects[number].tolist()
        painter.save()
        painter.translate(x, y)
        self._card(painter, number, width, height, detail)
        self._title(painter, number, width)
        if detail is Detail.FULL:
            self._letters(painter, number)
        painter.restore()
        if detail is Detail.FULL:
            self._ports(painter, number)

    def _card(
        self, painter: QPainter, number: int, width: float, height: float, detail: Detail
    ) -> None:
        box = self._arrays.visible.boxes[number]
        body = QRectF(0, 0, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        if detail is Detail.FULL:
            _shadow(painter, body)
        painter.setBrush(self._theme.raised if self._theme.is_dark else self._theme.panel)
        painter.drawRoundedRect(body, RADIUS, RADIUS)
        painter.setBrush(self._theme.title)
        painter.drawPath(title_shape(width, height))
        painter.setBrush(getattr(self._theme, KINDS[box.kind]))
        painter.drawPath(stripe_shape(height))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.line, 1))
        painter.drawRoundedRect(body.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        if box.is_scope:
            painter.drawRoundedRect(body.adjusted(3.5, 3.5, 3.5, 3.5), RADIUS, RADIUS)

    def _title(self, painter: QPainter, number: int, width: float) -> None:
        box = self._arrays.visible.boxes[number]
        labels, room = self._labels, width - INSET - 10
        name = box.id.rstrip("/")
        taken = min(labels.width(name, labels.title) + 1, room)
        left = room - taken - 8
        top = (TITLE - labels.height(labels.title)) / 2
        labels.draw(
            painter, QPointF(INSET, top), name, labels.title, self._theme.text, taken,
            Elide.ElideLeft,
        )  # fmt: skip
        type_width = labels.width(box.type, labels.caption) + 1
        if left < 24:
            return
        at = QPointF(width - 10 - min(type_width, left), top + 1.5)
        labels.draw(painter, at, box.type, labels.caption, self._theme.muted, left)

    def _letters(self, painter: QPainter, number: int) -> None:
        box = self._arrays.visible.boxes[number]
        letters = [t for t, there in (("v", box.has_value), ("∂", box.has_gradient)) if there]
        for row, letter in enumerate(letters):
            at = QPointF(INSET, row_top(row) + 1)
            self._labels.draw(painter, at, letter, self._labels.number, self._theme.faint, 14)

    def _ports(self, painter: QPainter, number: int) -> None:
        """Outputs are discs; an input is a ring until a wire's arrow takes its place."""
        box = self._arrays.visible.boxes[number]
        surface = self._theme.raised
        painter.setPen(QPen(self._theme.edge, 1.25))
        for index in range(box.outputs):
            _disc(painter, self._arrays.output_port(number, index), self._theme.edge)
        for index in box.open_inputs:
            _disc(painter, self._arrays.input_port(number, index), surface)


def _disc(painter: QPainter, at: tuple[float, float], fill: QColor) -> None:
    painter.setBrush(fill)
    painter.drawEllipse(QPointF(*at), PORT, PORT)


def _shadow(painter: QPainter, body: QRectF) -> None:
    for down, grow, alpha in SHADOW:
        painter.setBrush(faded(QColor("black"), alpha))
        layer = body.adjusted(-grow, -grow, grow, grow).translated(0, down)
        painter.drawRoundedRect(layer, RADIUS + grow, RADIUS + grow)
