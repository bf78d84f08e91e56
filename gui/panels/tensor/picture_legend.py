"""Under a picture: what its colours stand for, and what is under the pointer."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.core.host.tensors.aggregate import INF, NAN, NEGATIVE_INF, ZERO
from gradstep.gui.look.colour_maps import (
    MapName,
    Range,
    shades,
    special_color,
)
from gradstep.gui.look.theme import GRID, SMALL, mono
from gradstep.gui.model import number_text
from gradstep.gui.panels.tensor.cell_signs import draw_swatch
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_HEIGHT = 24
_BAR, _LEAST_BAR = 120, 24  # pixels
_SWATCH = 12
_NAMES = ((NAN, "NaN"), (INF, "Inf"), (NEGATIVE_INF, "-Inf"), (ZERO, "zero"))


class PictureLegend(QWidget):
    """A bar with the numbers at its ends, a swatch for each kind of cell that has a colour of its
    own, and one line of words."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("tensor.legend")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._map: MapName | None = None
        self._span: Range = (0.0, 0.0)
        self._kinds: frozenset[int] = frozenset()
        self._remark = self._pointed = ""

    def sizeHint(self) -> QSize:
        return QSize(320, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, _HEIGHT)

    def show_map(
        self, name: MapName | None, span: Range, kinds: frozenset[int], remark: str
    ) -> None:
        """name: none where channels are the colours; kinds: which of NaN, infinity and zero are to
        be seen; remark: what else is to be known."""
        self._map, self._span, self._kinds, self._remark = name, span, kinds, remark
        self.setAccessibleDescription("; ".join(self.texts))
        self.update()

    def show_pointed(self, text: str) -> None:
        """What is under the pointer, in place of the remark."""
        self._pointed = text
        self.update()

    @property
    def texts(self) -> list[str]:
        """All that it says."""
        low, high = (number_text.scalar(float(end)) for end in self._span)
        return [f"{low} to {high}", *self._named, self._pointed or self._remark]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme()
        painter.setFont(mono(SMALL))
        painter.setPen(theme.muted)
        x = 12 + (self._paint_bar(painter) if self._span != (0.0, 0.0) or self._kinds else 0)
        for kind, name in _NAMES:
            if kind in self._kinds:
                swatch = QRectF(x, (_HEIGHT - _SWATCH) / 2, _SWATCH, _SWATCH)
                draw_swatch(painter, swatch, kind, special_color(theme, kind))
                painter.setPen(theme.line)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(swatch)
                x = self._write(painter, x + _SWATCH + GRID // 2, name) + 2 * GRID
        metrics = QFontMetrics(mono(SMALL))
        room = QRectF(x, 0, self.width() - x - 12, _HEIGHT)
        text = self._pointed or self._remark
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(max(room.width(), 0)))
        painter.setPen(theme.text if self._pointed else theme.muted)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)

    @property
    def ends(self) -> tuple[str, str, int]:
        """The numbers at the ends of the bar, and its width: what there is room for, first a
        shorter bar, then fewer digits, then no bar."""
        kinds = sum(self._width(name) + _SWATCH + GRID // 2 for name in self._named)
        left = self.width() - 24 - GRID - kinds - 2 * GRID * len(self._named)
        for digits in (6, 3, 2):
            low, high = (_number(float(end), digits) for end in self._span)
            room = left - self._width(low) - self._width(high)
            if room >= _LEAST_BAR:
                return low, high, min(_BAR, room)
        return low, high, 0

    @property
    def _named(self) -> list[str]:
        return [name for kind, name in _NAMES if kind in self._kinds]

    def _width(self, text: str) -> int:
        return QFontMetrics(mono(SMALL)).horizontalAdvance(text)

    def _paint_bar(self, painter: QPainter) -> int:
        """The map between its ends; how wide all that is."""
        low, high, width = self.ends
        if not width:
            return self._write(painter, 12, f"{low} to {high}") + 2 * GRID - 12
        x = self._write(painter, 12, low) + GRID // 2
        if self._map is not None:
            table = shades(self._map, self._theme())
            image = QImage(table.tobytes(), 256, 1, 768, QImage.Format.Format_RGB888).copy()
        else:
            image = QImage(2, 1, QImage.Format.Format_RGB32)
            image.setPixelColor(0, 0, Qt.GlobalColor.black)
            image.setPixelColor(1, 0, Qt.GlobalColor.white)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        bar = QRectF(x, (_HEIGHT - 10) / 2, width, 10)
        painter.drawImage(bar, image)
        painter.setPen(self._theme().line)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        return self._write(painter, x + width + GRID // 2, high) + 2 * GRID - 12

    def _write(self, painter: QPainter, x: int, text: str) -> int:
        """Muted, from x on; where it ends."""
        width = self._width(text)
        painter.setPen(self._theme().muted)
        painter.drawText(QRectF(x, 0, width + 2, _HEIGHT), Qt.AlignmentFlag.AlignVCenter, text)
        return x + width


def _number(value: float, digits: int) -> str:
    return number_text.scalar(value) if digits == 6 else f"{value:.{digits}g}"
