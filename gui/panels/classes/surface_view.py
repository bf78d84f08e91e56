"""The decision surface: the plane of two inputs, coloured by class, with the rows over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gradstep.core.protocol.messages import Classified, PlacedRow, SurfaceDrawn
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import SMALL, Theme, mix, mono
from gradstep.gui.panels.classes.class_matrix import class_name
from gradstep.gui.panels.widgets.small_labels import ThemeSource

RADIUS = 3.0  # pixels of a point
NEAR = 8.0  # pixels from a point at which the pointer is at it
BOTTOM, LEFT = 16, 40  # pixels for the bounds


class SurfaceView(QWidget):
    """chosen(row): the user wants to see the row of that number."""

    chosen = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("classes.surface")
        self.setAccessibleName(self.tr("Decision surface of the two inputs, with the rows on it"))
        self.setMouseTracking(True)
        self._theme = theme
        self._seen: Classified | None = None
        self._surface: SurfaceDrawn | None = None
        self._made: tuple[object, QImage] | None = None

    def show_answer(self, seen: Classified | None) -> None:
        """Another surface with its rows; None for none."""
        self._seen = seen
        self.show_surface(None if seen is None else seen.surface)

    def show_surface(self, surface: SurfaceDrawn | None) -> None:
        """Another surface under the same rows."""
        self._surface = surface
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(LEFT + 200, BOTTOM + 200)

    @property
    def body(self) -> QRect:
        """The plane: a square."""
        side = max(min(self.width() - LEFT - 12, self.height() - BOTTOM - 4), 1)
        return QRect(LEFT, 2, side, side)

    def point_of(self, row: PlacedRow) -> QPointF:
        """Where a row is drawn."""
        assert self._surface is not None
        (x0, x1, y0, y1), body = self._surface.bounds, self.body
        across, up = (row.x - x0) / (x1 - x0), (row.y - y0) / (y1 - y0)
        return QPointF(body.x() + across * body.width(), body.y() + (1 - up) * body.height())

    def row_at(self, at: QPointF) -> PlacedRow | None:
        """The row that is nearest to a point, if it is near."""
        if self._seen is None or self._surface is None:
            return None
        ways = [((self.point_of(row) - at).manhattanLength(), row) for row in self._seen.points]
        least, row = min(ways, key=lambda way: way[0], default=(NEAR, None))
        return row if least < NEAR else None

    # -- the picture -----------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme()
        painter.fillRect(self.rect(), theme.panel)
        if self._surface is None or self._seen is None:
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(self.body, self._image(self._surface))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(self.body)
        for row in reversed(self._seen.points):  # the largest loss is on top
            self._paint_row(painter, row)
        painter.setClipping(False)
        self._paint_bounds(painter)

    def _image(self, surface: SurfaceDrawn) -> QImage:
        """Made again only for another surface or theme."""
        theme = self._theme()
        key = surface, theme.name
        if self._made is None or self._made[0] != key:
            self._made = key, surface_image(theme, surface, self._known)
        return self._made[1]

    @property
    def _known(self) -> int:
        return 2 if self._seen is None else self._seen.known

    def _paint_row(self, painter: QPainter, row: PlacedRow) -> None:
        theme, at = self._theme(), self.point_of(row)
        wrong = row.actual != row.taken
        painter.setPen(QPen(theme.problem if wrong else theme.panel, 2.0 if wrong else 1.0))
        painter.setBrush(class_colors(theme, self._known)[row.actual % max(self._known, 1)])
        radius = RADIUS + wrong
        painter.drawEllipse(at, radius, radius)

    def _paint_bounds(self, painter: QPainter) -> None:
        assert self._surface is not None
        (x0, x1, y0, y1), body = self._surface.bounds, self.body
        painter.setFont(mono(SMALL))
        painter.setPen(self._theme().muted)
        right, below = Qt.AlignmentFlag.AlignRight, body.bottom() + 2
        painter.drawText(QRect(body.x(), below, 60, BOTTOM), 0, f"{x0:.2g}")
        painter.drawText(QRect(body.right() - 60, below, 60, BOTTOM), right, f"{x1:.2g}")
        painter.drawText(QRect(0, body.y(), LEFT - 4, BOTTOM), right, f"{y1:.2g}")
        painter.drawText(QRect(0, body.bottom() - 14, LEFT - 4, BOTTOM), right, f"{y0:.2g}")

    # -- the user --------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and row is not None:
            self.chosen.emit(row.row)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        near = self.row_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if near else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return super().event(event)
        show_tip(event.globalPos(), self._words(self.row_at(QPointF(event.pos()))), self)
        return True

    def _words(self, row: PlacedRow | None) -> str:
        if row is None or self._seen is None:
            return ""
        names = (class_name(self._seen, number) for number in (row.actual, row.taken))
        said = self.tr("Row {:,} at {:.3g}, {:.3g} is {}, taken for {}")
        return said.format(row.row, row.x, row.y, *names)


def class_colors(theme: Theme, known: int) -> Sequence[QColor]:
    """A colour for each class: of two, that of values and that of gradients; of more, others in
    between, around the circle of hues."""
    if known <= 2:
        return [theme.forward, theme.backward]
    first = theme.forward
    hue = max(first.hslHueF(), 0.0)
    return [
        QColor.fromHslF((hue + n / known) % 1.0, first.hslSaturationF(), first.lightnessF())
        for n in range(known)
    ]


def surface_image(theme: Theme, surface: SurfaceDrawn, known: int) -> QImage:
    """The colour of each point: its class's, the paler the less sure that is."""
    side = surface.side
    classes = np.frombuffer(surface.classes, np.uint8).astype(np.intp)
    sure = np.frombuffer(surface.sure, np.uint8).astype(np.float64) / 255
    strong = (mix(theme.panel, color, 0.75) for color in class_colors(theme, known))
    table = np.array([[c.red(), c.green(), c.blue()] for c in strong], np.float64)
    ground = theme.panel
    pale = np.array([ground.red(), ground.green(), ground.blue()], np.float64)
    least = 1 / max(known, 2)
    share = np.clip((sure - least) / (1 - least), 0, 1)[:, None] * 0.85 + 0.15
    pixels = pale + share * (table[classes % len(table)] - pale)
    data = np.ascontiguousarray(pixels.round().astype(np.uint8)).tobytes()
    return QImage(data, side, side, 3 * side, QImage.Format.Format_RGB888).copy()
