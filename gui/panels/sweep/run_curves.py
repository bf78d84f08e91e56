"""The losses of runs, step by step, over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from gradstep.gui.look.theme import SMALL, mono, sans
from gradstep.gui.model.sweep import Snapshot
from gradstep.gui.panels.sweep.plot_scale import PlotScale, tick_text
from gradstep.gui.panels.sweep.run_colors import RunColors
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_LEFT, _TOP, _RIGHT, _BOTTOM = 52, 28, 16, 20  # pixels around the curves
_TICKS = 5


class RunCurves(QWidget):
    """Of the runs that are chosen, or of the best and of those under way."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("sweep.curves")
        self.setAccessibleName(self.tr("Losses by step"))
        self.setMinimumSize(120, 100)
        self._theme = theme
        self._seen: Snapshot | None = None
        self._chosen: Sequence[int] = ()

    def show_runs(self, seen: Snapshot, chosen: Sequence[int]) -> None:
        """What is known now."""
        self._seen, self._chosen = seen, chosen
        self.update()

    def restyle(self) -> None:
        """Other colours."""
        self.update()

    @property
    def curves(self) -> Mapping[int, np.ndarray]:
        """Those that are drawn, by run."""
        return {} if self._seen is None else {n: c for n, c in self._seen.curves.items() if len(c)}

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.muted)
        painter.setFont(sans(SMALL))
        painter.drawText(
            QRectF(_LEFT, 4, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self._title
        )
        if not self.curves:
            return
        points = np.concatenate([*self.curves.values()])
        steps = PlotScale(1.0, max(float(points[:, 0].max()), 2.0))
        losses = PlotScale.of(points[:, 1].tolist())
        self._paint_axes(painter, steps, losses)
        self._paint_curves(painter, steps, losses)

    @property
    def _title(self) -> str:
        if self._chosen:
            return self.tr("loss by step")
        return self.tr("loss by step: the best runs")

    @property
    def _box(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)

    def _paint_axes(self, painter: QPainter, steps: PlotScale, losses: PlotScale) -> None:
        box, theme = self._box, self._theme()
        painter.setFont(mono(SMALL))
        middle, right = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignRight
        for tick in losses.ticks(max(2, int(box.height() / 32))):
            y = box.bottom() - losses.share(tick) * box.height()
            painter.setPen(QPen(theme.line, 1))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
            painter.setPen(theme.muted)
            painter.drawText(QRectF(0, y - 8, _LEFT - 6, 16), middle | right, tick_text(tick))
        for tick in steps.ticks(max(2, int(box.width() / 96))):
            x = box.left() + steps.share(tick) * box.width()
            place = QRectF(x - 40, box.bottom() + 3, 80, 16)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, tick_text(tick))

    def _paint_curves(self, painter: QPainter, steps: PlotScale, losses: PlotScale) -> None:
        assert self._seen is not None
        box, colors = self._box, RunColors(self._seen.rows)
        for number, curve in reversed([*self.curves.items()]):
            color = colors.of(self._theme(), number)
            painter.setPen(QPen(color, 1.8 if self._chosen else 1.3))
            x = box.left() + steps.shares(curve[:, 0]) * box.width()
            y = box.bottom() - losses.shares(curve[:, 1]) * box.height()
            for part in _unbroken(x, y):
                painter.drawPolyline(QPolygonF([QPointF(*point) for point in part]))


def _unbroken(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The stretches that have a place throughout, as points."""
    points = np.column_stack([x, y])
    broken = np.flatnonzero(~np.isfinite(y))
    parts = np.split(points, broken)
    return [part[np.isfinite(part[:, 1])] for part in parts if len(part)]
