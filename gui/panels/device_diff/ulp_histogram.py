"""How many elements are how many representable numbers apart, as bars."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.gui.look.theme import SMALL, mono
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_LINE = 16


class UlpHistogram(QWidget):
    """A line for each distance that there is, the shortest first: its range, its bar, its count."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("device_diff.ulps")
        self._theme = theme
        self._lines: list[tuple[str, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_counts(self, counts: Sequence[int]) -> None:
        """counts: as in messages.NodeDifference.ulps."""
        self._lines = [(_range(number), count) for number, count in enumerate(counts) if count]
        said = ", ".join(f"{name}: {count}" for name, count in self._lines)
        self.setAccessibleName(f"Elements by distance in ULP: {said}")
        self.setVisible(bool(self._lines))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, _LINE * len(self._lines))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._theme(), QPainter(self)
        painter.setFont(mono(SMALL))
        measure = QFontMetrics(painter.font()).horizontalAdvance
        name = max((measure(text) for text, _ in self._lines), default=0)
        number = max((measure(f"{count:,}") for _, count in self._lines), default=0)
        most = max((count for _, count in self._lines), default=1)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for row, (text, count) in enumerate(self._lines):
            line = QRectF(0, row * _LINE, self.width(), _LINE)
            painter.setPen(theme.muted)
            painter.drawText(QRectF(0, line.y(), name, _LINE), right, text)
            painter.drawText(line, right, f"{count:,}")
            room = line.adjusted(name + 8, 4, -number - 8, -4)
            room.setWidth(max(1.0, room.width() * count / most))
            painter.fillRect(room, theme.forward if row == 0 and text == "0" else theme.backward)


def _range(number: int) -> str:
    """The distances that bucket `number` counts, in powers of 2."""
    if number < 2:
        return str(number)
    low, high = 1 << (number - 1), (1 << number) - 1
    return f"{_short(low)}–{_short(high)}"


def _short(number: int) -> str:
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if number >= size:
            return f"{number / (1000 if unit == 'k' else size):.3g}{unit}"
    return str(number)
