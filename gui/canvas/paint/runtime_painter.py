"""The second, cheap pass: what a run, a problem or the selection changes on the graph."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstep.gui.canvas.paint import batch_drawing, glow, gradient_flows
from gradstep.gui.canvas.paint.crossing_painter import CrossingPainter
from gradstep.gui.canvas.paint.heat_by_cost import SharePainter
from gradstep.gui.canvas.paint.link_painter import shown, tolerance, within
from gradstep.gui.canvas.paint.node_cards import RADIUS, rows_of
from gradstep.gui.canvas.paint.picture_cards import PicturePainter
from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.paint.variable_drawers import DrawerPainter
from gradstep.gui.canvas.scene.level_of_detail import Detail, text_size
from gradstep.gui.canvas.scene.node_values import NodeValues
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.look import heat_colours
from gradstep.gui.look.theme import Theme, fade

DOT = 4.5  # radius of a breakpoint
_DIAMOND = [QPointF(*at) for at in ((0, -6), (6, 0), (0, 6), (-6, 0))]  # of one that only writes
DRAWN_OUT = 0.7  # opacity of links of which else only the ends are seen
OPEN = 6.0  # radius of the ring around an input that is open


class RuntimePainter:
    """Draws over what GraphPainter drew; the same rectangle, scale and boxes."""

    def __init__(self, theme: Theme, labels: Labels) -> None:
        self._labels = labels
        self._shares = SharePainter(theme, labels)
        self._drawers = DrawerPainter(theme, labels)
        self._crossings = CrossingPainter(theme, labels)
        self.pictures = PicturePainter(theme)
        self.theme = theme

    @property
    def theme(self) -> Theme:
        return self._theme

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._theme = self._shares.theme = self._drawers.theme = self.pictures.theme = theme
        self._crossings.theme = theme

    def paint(
        self, painter: QPainter, arrays: SceneArrays, facts: OverlayState, boxes: np.ndarray,
        links: np.ndarray, scale: float,
    ) -> None:  # fmt: skip
        """boxes (bool[n]) and links (bool[m]): what to draw of them."""
        detail = Detail.at(scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, detail > Detail.DOTS)
        if detail < Detail.NAMES:
            self._far(painter, arrays, facts, boxes, links, scale)
            return
        self._links(painter, arrays, facts, links)
        if detail is Detail.FULL:
            self._crossings.draw(painter, arrays, facts.crossings, links)
        for number in np.flatnonzero(boxes).tolist():
            rect = QRectF(*arrays.rects[number].tolist())
            if facts.shares is not None:
                self._shares.tint(painter, rect, facts.shares, number)
            self._marks(painter, rect, number, facts, scale)
            if detail is Detail.FULL:
                self._open_ports(painter, number, arrays, facts)
            self._rows(painter, rect, number, arrays, facts, text_size(scale))

    def paint_above(
        self,
        painter: QPainter,
        arrays: SceneArrays,
        facts: OverlayState,
        boxes: np.ndarray,
        scale: float,
    ) -> None:
        """What stands beside the boxes (bool[n]), over all of them: numbers of the cost that they
        are coloured by, pictures of values, and what an update changed."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if facts.shares is not None:
            self._shares.say(painter, arrays.rects, facts.shares, boxes, scale)
        if Detail.at(scale) < Detail.NAMES:
            return
        for number in np.flatnonzero(boxes).tolist():
            self.pictures.draw(painter, arrays, facts, number, scale)
            if (found := facts.update(number)) is not None:
                rect = QRectF(*arrays.rects[number].tolist())
                others, fresh = arrays.occupied, facts.fresh == (number, False)
                self._drawers.draw(painter, rect, others, found, fresh, text_size(scale))

    # -- far -----------------------------------------------------------------------------------

    def _far(
        self, painter: QPainter, arrays: SceneArrays, facts: OverlayState, boxes: np.ndarray,
        links: np.ndarray, scale: float,
    ) -> None:  # fmt: skip
        """Filled boxes and coloured lines."""
        self._drawn_out(painter, arrays, facts)
        if facts.shares is not None:
            self._shares.far(painter, _at_least(arrays.rects, 2 / scale), facts.shares, boxes)
        carrying = [i for i in np.flatnonzero(links).tolist() if facts.carried and facts.flow(i)]
        if carrying:
            painter.setPen(QPen(self.theme.backward, 0))
            pieces = arrays.routes.pieces(np.array(carrying, dtype=np.int64))
            lines = arrays.routes.flat(*pieces, tolerance(painter)).segments()
            batch_drawing.lines(painter, lines)
        painter.setPen(Qt.PenStyle.NoPen)
        current = [] if facts.current is None else [facts.current]
        for chosen, color in (
            (facts.selected, self.theme.selection),
            (current, self.theme.current),
            (facts.problems, self.theme.problem),
        ):
            painter.setBrush(color)
            rects = arrays.rects[[i for i in chosen if boxes[i]]]
            batch_drawing.rects(painter, _at_least(rects, 4 / scale))

    # -- links -----------------------------------------------------------------------------------

    def _links(
        self, painter: QPainter, arrays: SceneArrays, facts: OverlayState, links: np.ndarray
    ) -> None:
        self._drawn_out(painter, arrays, facts)
        numbers = np.flatnonzero(links).tolist()
        carrying = numbers if facts.carried else ()
        flowing = {i: flow for i in carrying if (flow := facts.flow(i))}
        dead, stopped = facts.dead_links | facts.untaken_links, facts.stopped_links
        marked = dead | stopped
        shown = [i for i in numbers if marked[i] or i in flowing or i == facts.selected_link]
        if not shown:  # as where boxes are painted by themselves
            return
        lines = arrays.routes.lines(np.array(shown, dtype=np.int64), tolerance(painter))
        for number, points in zip(shown, lines, strict=True):
            if dead[number]:
                gradient_flows.draw_dead(painter, points, self.theme)
            if number == facts.selected_link:
                gradient_flows.draw_selected(painter, points, self.theme)
            if number in flowing:
                gradient_flows.draw_flow(painter, points, flowing[number], self.theme)
            if stopped[number]:
                gradient_flows.draw_bar(painter, points, self.theme)

    def _drawn_out(self, painter: QPainter, arrays: SceneArrays, facts: OverlayState) -> None:
        """The links that stubs stand for, also where no end of them is in view."""
        if not len(facts.drawn_out):
            return
        routes, sides = arrays.drawn_out(facts.drawn_out), shown(painter)
        links, pieces = routes.pieces(np.arange(len(routes)), sides)
        painter.setPen(QPen(fade(self.theme.selection, DRAWN_OUT), 0))
        lines = routes.flat(links, pieces, tolerance(painter)).segments()
        batch_drawing.lines(painter, within(lines, sides))

    # -- boxes -----------------------------------------------------------------------------------

    def _marks(
        self, painter: QPainter, rect: QRectF, number: int, facts: OverlayState, scale: float
    ) -> None:
        theme = self.theme
        if number in facts.untaken:
            _fade_out(painter, rect, theme)
        if number in facts.problems:
            painter.setBrush(fade(theme.problem, 0.10))
            _outline(painter, rect, theme.problem, 1.5)
        if number == facts.current:
            color = theme.problem if number in facts.problems else theme.current
            painter.setBrush(Qt.BrushStyle.NoBrush)
            glow.draw(painter, rect, color)
            _outline(painter, rect, color, max(2.0, 1.5 / scale))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if number in facts.selected:
            away = 4.0 if number == facts.current else 0.0  # outside the outline of the step
            ring = rect.adjusted(-away, -away, away, away)
            _outline(painter, ring, theme.selection, max(2.0, 1.5 / scale))
        if number in facts.problems:
            self._problem_sign(painter, rect)
        if number in facts.badges:
            self._badge(painter, rect, facts.badges[number], text_size(scale))
        if number in facts.breakpoints:
            filled = facts.breakpoints[number]
            painter.setPen(QPen(theme.background if filled else theme.problem, 1.5))
            painter.setBrush(theme.problem if filled else theme.background)
            middle = rect.topLeft() + QPointF(1, 1)
            if number in facts.logpoints:
                painter.drawPolygon([middle + corner for corner in _DIAMOND])
            else:
                painter.drawEllipse(middle, DOT, DOT)

    def _open_ports(
        self, painter: QPainter, number: int, arrays: SceneArrays, facts: OverlayState
    ) -> None:
        """A ring around each input that something is still to be wired into."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.selection, 1.5))
        for index in facts.open_inputs(number):
            painter.drawEllipse(QPointF(*arrays.input_port(number, index)), OPEN, OPEN)

    def _badge(self, painter: QPainter, rect: QRectF, text: str, size: float) -> None:
        """The name of an override, on the upper edge near the right corner."""
        labels, height = self._labels, 16 * size
        width = min((labels.width(text, labels.caption) + 14) * size, rect.width() - 24)
        pill = QRectF(rect.right() - 12 - width, rect.top() + 7 / size - height, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.override)
        painter.drawRoundedRect(pill, height / 2, height / 2)
        at = QPointF(pill.x() + 7 * size, labels.middle(pill.y(), height, labels.caption, size))
        room = width - 12 * size
        labels.draw(painter, at, text, labels.caption, self.theme.on_accent, room, size=size)

    def _problem_sign(self, painter: QPainter, rect: QRectF) -> None:
        labels, at = self._labels, rect.topRight() + QPointF(-1, 1)
        painter.setPen(QPen(self.theme.background, 1.5))
        painter.setBrush(self.theme.problem)
        painter.drawEllipse(at, 7, 7)
        corner = at - QPointF(labels.width("!", labels.caption), labels.height(labels.caption)) / 2
        labels.draw(painter, corner, "!", labels.caption, self.theme.on_accent, 12)

    def _rows(
        self, painter: QPainter, rect: QRectF, number: int, arrays: SceneArrays,
        facts: OverlayState, size: float,
    ) -> None:  # fmt: skip
        box, letter = arrays.visible.boxes[number], self._labels.letter
        for row, of_gradient, characters in rows_of(box, rect.width(), size, letter):
            room = row.room(rect.width())
            area = QRectF(rect.x() + row.left, rect.y() + row.top, room, row.height)
            if facts.fresh == (number, of_gradient):
                self._fresh(painter, rect, area, of_gradient)
            self._reading(painter, area, row.size, facts.reading(number, of_gradient, characters))

    def _fresh(self, painter: QPainter, rect: QRectF, area: QRectF, of_gradient: bool) -> None:
        """Ground and edge of the row that the last step filled."""
        color = self.theme.backward if of_gradient else self.theme.forward
        ground = QRectF(rect.x() + 4, area.y(), rect.width() - 8, area.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fade(color, 0.16))
        painter.drawRoundedRect(ground, 3, 3)
        painter.setBrush(color)
        painter.drawRect(QRectF(ground.x(), ground.y() + 2, 2, ground.height() - 4))

    def _reading(self, painter: QPainter, area: QRectF, size: float, reading: NodeValues) -> None:
        if reading.tiles is not None:
            self._tiles(painter, area.adjusted(0, 2, 0, -2), reading)
            return
        color: QColor = getattr(self.theme, reading.tone)
        labels = self._labels
        if reading.marked is not None:
            self._mark(painter, area, size, *reading.marked)
        at = QPointF(area.x(), labels.middle(area.y(), area.height(), labels.number, size))
        labels.draw(painter, at, reading.text, labels.number, color, area.width(), size=size)

    def _mark(self, painter: QPainter, area: QRectF, size: float, start: int, length: int) -> None:
        """Ground and line under some characters of a reading: the element that an error names."""
        letter = self._labels.letter * size
        cell = QRectF(area.x() + letter * start - 2, area.y() + 1, letter * length + 4,
                      area.height() - 2)  # fmt: skip
        painter.fillRect(cell, fade(self.theme.problem, 0.30))
        painter.fillRect(cell.adjusted(0, cell.height() - 1.5, 0, 0), self.theme.problem)

    def _tiles(self, painter: QPainter, area: QRectF, reading: NodeValues) -> None:
        """An array as coloured cells."""
        rows = tile_colors(reading, self.theme)
        width = min(16.0, area.width() / len(rows[0]))
        height = area.height() / len(rows)
        painter.setPen(Qt.PenStyle.NoPen)
        for i, row in enumerate(rows):
            for j, color in enumerate(row):
                painter.setBrush(color)
                x, y = area.x() + j * width, area.y() + i * height
                painter.drawRect(QRectF(x, y, max(width - 1, 1), max(height - 1, 1)))


@lru_cache(maxsize=4096)  # what is in view is painted again and again
def tile_colors(reading: NodeValues, theme: Theme) -> list[list[QColor]]:
    """Of the cells of a reading's array: matrices of up to four rows in their shape, others
    flat."""
    array = reading.tiles
    assert array is not None  # asked before
    rows = array.shape[0] if array.ndim == 2 and array.shape[0] <= 4 else 1
    top = heat_colours.largest(array)
    return [
        [heat_colours.color(theme, x, top) for x in row] for row in array.reshape(rows, -1).tolist()
    ]


def _at_least(rects: np.ndarray, least: float) -> np.ndarray:
    """Rectangles (float64[n, 4]) made so wide and high that they are seen."""
    grown = rects.copy()
    grown[:, 2:] = np.maximum(grown[:, 2:], least)
    return grown


def _outline(painter: QPainter, rect: QRectF, color: QColor, width: float) -> None:
    painter.setPen(QPen(color, width))
    painter.drawRoundedRect(rect, RADIUS, RADIUS)


def _fade_out(painter: QPainter, rect: QRectF, theme: Theme) -> None:
    """The card nearly in the background's colour, with a dashed edge."""
    painter.setBrush(fade(theme.background, 0.6))
    pen = QPen(theme.faint, 1)
    pen.setDashPattern([4, 4])
    painter.setPen(pen)
    painter.drawRoundedRect(rect, RADIUS, RADIUS)
