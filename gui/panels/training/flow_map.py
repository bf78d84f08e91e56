"""The gradient-flow map: steps across, layers down, coloured by a measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import GRID, SMALL, Tone, mono
from gradstep.gui.model.earlier_trainings import AnyPoints
from gradstep.gui.model.number_text import scalar
from gradstep.gui.model.training_curve import Curve
from gradstep.gui.panels.training.flow_image import paint_rows, span_of
from gradstep.gui.panels.training.plot_groups import SHARES, TITLES
from gradstep.gui.panels.training.step_map import StepMap
from gradstep.gui.panels.widgets.small_labels import ThemeSource

TONES: dict[str, Tone] = {"gradient": "backward", "ratio": "update", "dead": "forward"}


class FlowMap(StepMap):
    """Rows are curves of one kind."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__(theme)
        self.setObjectName("training.map")
        self.setAccessibleName(self.tr("Gradient flow: steps across, layers down"))
        self._family = "gradient"
        self._curves: Sequence[Curve] = ()
        self._made: tuple[object, QImage] | None = None  # the picture, and of what
        self._span = (0.0, 1.0)  # what the ends of the colours stand for

    def show_rows(self, family: str, curves: Sequence[Curve]) -> None:
        """A row for each of these, which are of one kind: a key of TITLES."""
        self._family, self._curves = family, [*curves]
        self._rows = self._curves
        self._revision += 1
        self._span = span_of([curve.points for curve in curves], family in SHARES)
        self.update()

    def _paint_rows(self, painter: QPainter) -> None:
        body, height = self.body, self.row_height
        first = int(self._scroll // height)
        shown = self._curves[first : first + body.height() // height + 2]
        points = [curve.points for curve in shown]
        width = max(int(body.width() * self.devicePixelRatioF()), 1)
        image = self._image(points, first, width)
        painter.save()
        painter.setClipRect(QRect(0, body.y(), self.width(), body.height()))
        for number, curve in enumerate(shown):
            top = body.y() + (first + number) * height - int(self._scroll)
            cells = QRect(body.x(), top, body.width(), height - 1)
            painter.drawImage(cells, image, QRect(0, number, width, 1))
            self._paint_name(painter, curve, top, first + number == self._row)
        painter.restore()

    def _image(self, points: Sequence[AnyPoints], first: int, width: int) -> QImage:
        """A line of pixels for each row, from row `first` on; made again only where it is another:
        not when the cursor moves."""
        theme = self._theme()
        key = (self._revision, first, len(points), width, self.view, theme.name)
        if self._made is None or self._made[0] != key:
            look = theme, self._tone
            pixels = paint_rows(points, self.view, width, self._span, look, self._is_share)
            format = QImage.Format.Format_RGBA8888
            image = QImage(pixels.data, width, len(points), 4 * width, format).copy()
            self._made = key, image
        return self._made[1]

    def _paint_name(self, painter: QPainter, curve: Curve, top: int, here: bool) -> None:
        theme, room = self._theme(), self.body.x() - GRID - 4
        painter.setFont(mono(SMALL))
        painter.setPen(theme.text if here else theme.muted)
        metrics = QFontMetrics(painter.font())
        name = visible(curve.op or curve.title)
        text = metrics.elidedText(name, Qt.TextElideMode.ElideLeft, room)
        box = QRect(4, top, room, self.row_height - 1)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _said(self, row: int) -> str:
        curve = self._curves[row]
        number = curve.points.at(self._cursor)
        unknown = bool(is_not_there(np.array([number]))[0])
        said = self.tr("not known") if unknown else scalar(number)
        return f"{curve.op or curve.title} · {said}"

    @property
    def _title(self) -> str:
        return TITLES[self._family]

    @property
    def _tone(self) -> Tone:
        return TONES.get(self._family, "forward")

    @property
    def _ends(self) -> tuple[str, str]:
        low, high = self._span
        return f"{low:.2g}", f"{high:.2g}"

    @property
    def _is_share(self) -> bool:
        return self._family in SHARES
