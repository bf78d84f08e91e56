"""The look of one node near by: card, title row with its stripe, row letters, ports."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gradstep.gui.canvas.paint.text_cache import Elide, Labels
from gradstep.gui.canvas.scene.level_of_detail import Detail, text_size
from gradstep.gui.canvas.scene.scene_arrays import PADDING, ROW, TITLE, SceneArrays
from gradstep.gui.canvas.scene.scene_boxes import KINDS, Box, last_part
from gradstep.gui.look.device_text import device_label
from gradstep.gui.look.theme import Theme, fade, mix

RADIUS = 6.0
STRIPE = 3.0
INSET = 12.0  # from the left side to the text
LEAST_TYPE = 48.0  # of an op type's name there is so much to be seen, or nothing
LINE = 13.5  # least height of a row whose text has the usual size
EDGE = 3.0  # least distance of the last row from the node's lower edge
PORT = 3.5
MARK = 3.5  # radius of the mark of another framework's operation
# Offset downwards, growth and opacity of the shadow's layers.
SHADOW = ((2.0, 2.0, 0.05), (1.5, 1.0, 0.08), (1.0, 0.5, 0.10))
# Of a stack, how far the cards behind stand out above and on the right, and how much of the front
# card's colour they have.
BEHIND = ((10.0, 0.5), (5.0, 0.8))


class Row(NamedTuple):
    """Where a row of a node lies: from the node's upper side, its height, the size of its text."""

    top: float
    height: float
    size: float

    @property
    def left(self) -> float:
        """From the node's left side to the value, behind the letter."""
        return INSET + 10.0 * self.size + 4.0

    def room(self, width: float) -> float:
        """For the value, in a node that is so wide."""
        return width - self.left - INSET + 4


def row_of(number: int, count: int, size: float) -> Row:
    """Row `number` of so many (0: the value, 1: the gradient). size: of the node's texts, which
    rows follow as far as there is room for them above the node's edge."""
    body = PADDING + ROW * count
    height = min(ROW * size, (body - EDGE) / count)
    free = body - height * count
    top = TITLE + min(free / 2, free - EDGE) + height * number
    return Row(top, height, min(size, height / LINE))


Rows = tuple[tuple[Row, bool, int], ...]


def rows_of(box: Box, width: float, size: float, letter: float) -> Rows:
    """Each row of a node, whether it is the gradient's, and how many characters it has room for.
    letter: the width of one, at the usual size."""
    return _rows(box.has_value, box.has_gradient, width, size, letter)


@lru_cache(maxsize=256)  # nodes are alike, and in view are asked for at each stop and paint
def _rows(has_value: bool, has_gradient: bool, width: float, size: float, letter: float) -> Rows:
    wanted = [g for g, there in ((False, has_value), (True, has_gradient)) if there]
    rows = [(row_of(i, len(wanted), size), g) for i, g in enumerate(wanted)]
    return tuple((row, g, int(row.room(width) / letter / row.size)) for row, g in rows)


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

    def draw(self, painter: QPainter, number: int, scale: float) -> None:
        """Node `number`, without what a run knows of it. scale: pixels per scene unit."""
        x, y, width, height = self._arrays.rects[number].tolist()
        detail, size = Detail.at(scale), text_size(scale)
        painter.save()
        painter.translate(x, y)
        self._card(painter, number, width, height, detail)
        self._title(painter, number, width, size)
        self._letters(painter, number, size)
        painter.restore()
        if detail is Detail.FULL:
            self._ports(painter, number)

    def _card(
        self, painter: QPainter, number: int, width: float, height: float, detail: Detail
    ) -> None:
        box = self._arrays.visible.boxes[number]
        body = QRectF(0, 0, width, height)
        if box.stack:
            self._cards_behind(painter, body)
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
        if box.is_scope and not box.stack:
            painter.drawRoundedRect(body.adjusted(3.5, 3.5, 3.5, 3.5), RADIUS, RADIUS)

    def _cards_behind(self, painter: QPainter, body: QRectF) -> None:
        """Of a stack, the farthest first."""
        theme = self._theme
        painter.setPen(QPen(mix(theme.line, theme.faint, 0.6), 1))
        for away, share in BEHIND:
            painter.setBrush(mix(theme.background, theme.title, share))
            card = body.adjusted(0.5, 0.5, -0.5, -0.5).translated(away, -away)
            painter.drawRoundedRect(card, RADIUS, RADIUS)

    def _title(self, painter: QPainter, number: int, width: float, size: float) -> None:
        box = self._arrays.visible.boxes[number]
        labels, room = self._labels, width - INSET - 10
        if box.is_foreign:
            self._mark(painter)
        scope = self._arrays.scopes[number]  # its frame says it
        of, kind = box.id.rstrip("/").removeprefix(f"{scope}/"), _kind(box)
        if box.stack:
            name, kind = self._stack_title(of, box, room / size)
        else:
            name = self._name(of, room / size)
        taken = min((labels.width(name, labels.title) + 1) * size, room)
        left = room - taken - 8
        top = labels.middle(0, TITLE, labels.title, size)
        labels.draw(
            painter, QPointF(INSET, top), name, labels.title, self._theme.text, taken,
            Elide.ElideLeft, size,
        )  # fmt: skip
        type_width = (labels.width(kind, labels.caption) + 1) * size
        if left < min(type_width, LEAST_TYPE * size):
            return
        at = QPointF(width - 10 - min(type_width, left), top + 1.5 * size)
        labels.draw(painter, at, kind, labels.caption, self._theme.muted, left, size=size)

    def _mark(self, painter: QPainter) -> None:
        """Of another framework's operation: the left half of a disc, before its name."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.muted)
        disc = QRectF(STRIPE + 2.5, TITLE / 2 - MARK, 2 * MARK, 2 * MARK)
        painter.drawPie(disc, 90 * 16, 180 * 16)

    def _name(self, name: str, room: float) -> str:
        """The name, or as much of its end as there is room for: without its scopes at least."""
        *scopes, last = name.split("/")
        shorter = [name, f"…/{last}"] if scopes else []
        return next((n for n in shorter if self._labels.width(n, self._labels.title) < room), last)

    def _stack_title(self, first: str, box: Box, room: float) -> tuple[str, str]:
        """From which block to which, and how many they are; of how much each is, what there is room
        for. The number of blocks is always said."""
        labels, last = self._labels, last_part(box.stack[-1])
        end = f"{first.rpartition('/')[0]}/{last}".removeprefix("/")
        names = (f"{first} … {end}", f"{first} … {last}", f"{last_part(first)} … {last}")
        counts = (box.type, box.type.removesuffix(" each"), box.type.partition(" ")[0])
        least = labels.width(counts[-1], labels.caption) + 10
        name = next((n for n in names if labels.width(n, labels.title) < room - least), names[-1])
        left = room - labels.width(name, labels.title) - 10
        fitting = (c for c in counts if labels.width(c, labels.caption) < left)
        return name, next(fitting, counts[-1])

    def _letters(self, painter: QPainter, number: int, size: float) -> None:
        box = self._arrays.visible.boxes[number]
        labels = self._labels
        letters = [t for t, there in (("v", box.has_value), ("∂", box.has_gradient)) if there]
        for row, letter in enumerate(letters):
            place = row_of(row, len(letters), size)
            at = QPointF(INSET, labels.middle(place.top, place.height, labels.number, place.size))
            labels.draw(
                painter, at, letter, labels.number, self._theme.faint, 14 * size, size=place.size
            )

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
        painter.setBrush(fade(QColor("black"), alpha))
        layer = body.adjusted(-grow, -grow, grow, grow).translated(0, down)
        painter.drawRoundedRect(layer, RADIUS + grow, RADIUS + grow)


def _kind(box: Box) -> str:
    """The op type, or how much is in a scope, behind the devices that compute it where those are
    others than that of the run."""
    return " · ".join([*map(device_label, box.devices), box.type])
