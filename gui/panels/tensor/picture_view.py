"""Heat maps and images: planes of cells side by side, as large as there is room for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from gradstep.core.host.tensors.aggregate import INF, NAN, NEGATIVE_INF
from gradstep.gui.look.contrast import ink_on
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import GRID, SMALL, mono
from gradstep.gui.model import number_text
from gradstep.gui.panels.tensor.cell_signs import draw_sign
from gradstep.gui.panels.tensor.picture_fit import (
    GAP,
    LABEL,
    Array,
    Fit,
    Picture,
    fit,
    label_height,
)
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_NUMBER_HEIGHT = 16  # pixels of a cell in which its number is written
_MARK = 7  # pixels of a cell in which NaN, infinity and zero have their signs


class PictureView(QWidget):
    """wanted(): there is another room for it. pointed(text): what is under the pointer. chosen(
    position): a cell was clicked; paged(steps): other planes are asked for."""

    wanted = Signal()
    pointed = Signal(str)
    chosen = Signal(object, bool)
    paged = Signal(int)

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._theme = theme
        self.picture = Picture()
        self._images: list[QImage] = []
        self._current: tuple[int, int, int] | None = None

    def show_picture(self, picture: Picture) -> None:
        """Other planes, or others of them."""
        self.picture, self._current = picture, None
        self._images = [_image(plane) for plane in picture.pixels]
        self.update()

    def mark(self, plane: int, row: int, column: int) -> None:
        """Frame a cell."""
        self._current = plane, row, column
        self.update()

    @property
    def room(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return max(self.width() - 3 * GRID, 1), max(self.height() - 2 * GRID, 1)

    @property
    def _fit(self) -> Fit:
        count = len(self._images)
        rows, columns = self.picture.pixels.shape[1:3]
        if self.picture.total > count:  # others are not shown: the same size on every page
            return fit(self.room, (rows, columns), self.picture.total)
        return fit(self.room, (rows, columns), count, self.picture.stretch)

    def plane_rect(self, plane: int) -> QRectF:
        """Where a plane is painted."""
        found = self._fit
        label = label_height(self.room[1], self.picture.total)
        line, column = divmod(plane, found.columns)
        x = 12 + column * (found.width + GAP)
        y = GRID / 2 + line * (found.height + label + GAP) + label
        return QRectF(round(x), round(y), found.width, found.height)

    def cell_rect(self, plane: int, row: int, column: int) -> QRectF:
        rect = self.plane_rect(plane)
        rows, columns = self.picture.pixels.shape[1:3]
        high, wide = rect.height() / rows, rect.width() / columns
        return QRectF(rect.x() + column * wide, rect.y() + row * high, wide, high)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme()
        painter.fillRect(self.rect(), theme.panel)
        painter.setFont(mono(SMALL))
        metrics = QFontMetrics(mono(SMALL))
        for plane, image in enumerate(self._images):
            rect = self.plane_rect(plane)
            smooth = image.width() > rect.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
            painter.drawImage(rect, image)
            painter.setPen(theme.faint)  # zeros look like the ground
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))
            if label_height(self.room[1], self.picture.total):
                painter.setPen(theme.muted)
                room = QRect(int(rect.x()), int(rect.y()) - LABEL, int(rect.width()) + GAP, LABEL)
                text = metrics.elidedText(
                    self.picture.label(plane), Qt.TextElideMode.ElideRight, room.width()
                )
                painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
            self._paint_cells(painter, plane, rect, metrics)
        if self._current is not None and self._current[0] < len(self._images):
            painter.setPen(QPen(theme.current, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell_rect(*self._current))

    def _paint_cells(
        self, painter: QPainter, plane: int, rect: QRectF, metrics: QFontMetrics
    ) -> None:
        """Signs of what is no number, and numbers where they can be read."""
        kinds = self.picture.kinds[plane]
        if kinds.ndim > 2 or not kinds.size:
            return
        rows, columns = kinds.shape
        high, wide = rect.height() / rows, rect.width() / columns
        if min(high, wide) < _MARK:
            return
        texts = self._texts(plane, wide, high, metrics)
        special = np.argwhere(kinds != 0) if texts is None else np.argwhere(kinds >= 0)
        for row, column in special.tolist():
            place = self.cell_rect(plane, row, column)
            color = QColor(*(int(c) for c in self.picture.pixels[plane, row, column, :3]))
            if texts is not None:
                painter.setPen(ink_on(color))
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, texts[row][column])
            else:
                draw_sign(painter, place, int(kinds[row, column]), ink_on(color))

    def _texts(
        self, plane: int, wide: float, high: float, metrics: QFontMetrics
    ) -> list[list[str]] | None:
        """The numbers of all cells of a plane, if there is room for the longest."""
        values = self.picture.values[plane]
        if high < _NUMBER_HEIGHT or values.size > 4096 or wide < metrics.horizontalAdvance("0.0"):
            return None
        kinds = self.picture.kinds[plane]
        names = {NAN: "NaN", INF: "Inf", NEGATIVE_INF: "-Inf"}
        for decimals in (3, 2, 1):
            flat = [text.strip() for text in number_text.elements(values.reshape(-1), decimals)]
            said = [names.get(int(k), t) for k, t in zip(kinds.flat, flat, strict=True)]
            if max(map(metrics.horizontalAdvance, said), default=0) + 4 <= wide:
                width = values.shape[1]
                return [said[i : i + width] for i in range(0, len(said), width)]
        return None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.wanted.emit()

    # -- pointer and keys --------------------------------------------------------------------------

    def cell_at(self, point: QPointF) -> tuple[int, int, int] | None:
        """Plane, row and column of the cell under a point."""
        rows, columns = self.picture.pixels.shape[1:3]
        for plane in range(len(self._images)):
            rect = self.plane_rect(plane)
            if rect.contains(point) and rows and columns:
                row = int((point.y() - rect.y()) / rect.height() * rows)
                column = int((point.x() - rect.x()) / rect.width() * columns)
                return plane, min(row, rows - 1), min(column, columns - 1)
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self._said(self.cell_at(event.position())))

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit("")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(event, opened=False)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._choose(event, opened=True)

    def _choose(self, event: QMouseEvent, opened: bool) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() is Qt.MouseButton.LeftButton:
            self.mark(*cell)
            self.chosen.emit(self.picture.position(*cell), opened)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.paged.emit(-1 if event.angleDelta().y() > 0 else 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        pages = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}
        if (steps := pages.get(Qt.Key(event.key()))) is not None:
            self.paged.emit(steps)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self._said(self.cell_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)

    def _said(self, cell: tuple[int, int, int] | None) -> str:
        """A cell's place and number: "[0, 3:7, 12] 0.5"."""
        if cell is None:
            return ""
        values, kinds = (each[cell] for each in (self.picture.values, self.picture.kinds))
        names = {NAN: "NaN", INF: "Inf", NEGATIVE_INF: "-Inf"}
        pairs = zip(np.atleast_1d(values).tolist(), np.atleast_1d(kinds).tolist(), strict=True)
        texts = [names.get(kind, number_text.scalar(value)) for value, kind in pairs]
        *outer, row, column = self.picture.position(*cell)
        down, across = self.picture.block
        where = [*map(str, outer), _span(row, down), _span(column, across)]
        return f"[{', '.join(where)}]  {' '.join(texts)}"


def _span(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}:{first + count}"


def _image(plane: Array) -> QImage:
    height, width = plane.shape[:2]
    data = np.ascontiguousarray(plane)
    return QImage(data.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()
