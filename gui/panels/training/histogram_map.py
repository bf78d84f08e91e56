"""Histograms over time: a band for each tensor, steps across, its numbers up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import SMALL, Tone, mono
from gradstep.gui.model.histogram_points import Histogram
from gradstep.gui.model.number_text import scalar
from gradstep.gui.panels.training.histogram_image import paint_histograms
from gradstep.gui.panels.training.step_map import StepMap
from gradstep.gui.panels.widgets.small_labels import ThemeSource

BAND, HIGHEST = 44, 160  # pixels of a band, at least and at most
TONES: dict[str, Tone] = {"weights": "update", "gradients": "backward"}


class HistogramMap(StepMap):
    """Rows are bands, coloured by how many of a tensor's numbers there are."""

    least, most = BAND, HIGHEST

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__(theme)
        self.setObjectName("training.histograms")
        self.setAccessibleName(self.tr("Histograms: steps across, a tensor's numbers up"))
        self._bands: Sequence[Histogram] = ()
        self._pictures: dict[int, tuple[object, QImage]] = {}  # by band

    def show_histograms(self, bands: Sequence[Histogram]) -> None:
        """A band for each of these."""
        self._bands = [*bands]
        self._rows = self._bands
        self._revision += 1
        self.update()

    # -- the picture -----------------------------------------------------------------------------

    def _paint_rows(self, painter: QPainter) -> None:
        body, height = self.body, self.row_height
        painter.save()
        painter.setClipRect(QRect(0, body.y(), self.width(), body.height()))
        for number, band in enumerate(self._bands):
            top = body.y() + number * height - int(self._scroll)
            if top + height < body.y() or top > body.bottom():
                continue
            cells = QRect(body.x(), top, body.width(), height - 3)
            painter.drawImage(cells, self._picture(number, band, cells))
            self._paint_band(painter, band, top, number == self._row)
        painter.restore()

    def _picture(self, number: int, band: Histogram, cells: QRect) -> QImage:
        """Made again only where it is another: not when the cursor moves."""
        theme, ratio = self._theme(), self.devicePixelRatioF()
        size = max(int(cells.width() * ratio), 1), max(int(cells.height() * ratio), 1)
        key = (self._revision, band, size, self.view, theme.name)
        made = self._pictures.get(number)
        if made is None or made[0] != key:
            look = theme, TONES.get(band.family, "forward")
            pixels = paint_histograms(band.points, self.view, size, look)
            format = QImage.Format.Format_RGBA8888
            image = QImage(pixels.data, *size, 4 * size[0], format).copy()
            made = self._pictures[number] = key, image
        return made[1]

    def _paint_band(self, painter: QPainter, band: Histogram, top: int, here: bool) -> None:
        """Its name, and what its upper and lower edge stand for."""
        theme, room = self._theme(), self.body.x() - 12
        painter.setFont(mono(SMALL))
        metrics = QFontMetrics(painter.font())
        right, middle = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignVCenter
        box = QRect(4, top, room, self.row_height - 3)
        painter.setPen(theme.text if here else theme.muted)
        name = metrics.elidedText(visible(band.title), Qt.TextElideMode.ElideLeft, room)
        painter.drawText(box, right | middle, name)
        if not len(band.points):
            return
        low, high = band.points.span
        painter.setPen(theme.muted)
        painter.drawText(box, right | Qt.AlignmentFlag.AlignTop, f"{high:.3g}")
        painter.drawText(box, right | Qt.AlignmentFlag.AlignBottom, f"{low:.3g}")

    @property
    def _title(self) -> str:
        return self.tr("histograms")

    @property
    def _ends(self) -> tuple[str, str]:
        return self.tr("few"), self.tr("many")

    @property
    def _tone(self) -> Tone:
        return TONES.get(self._bands[0].family, "forward") if self._bands else "update"

    def _said(self, row: int) -> str:
        """In which step it was looked at, and between which all of its numbers were."""
        band = self._bands[row]
        at = band.points.looked_at(self._cursor)
        if at < 0:
            return f"{band.title} · {self.tr('not known')}"
        low, high, wrong = (float(x) for x in band.points.rows[at, :3])
        said = self.tr("{} to {}").format(scalar(low), scalar(high))
        if wrong:
            said += self.tr(", {:,.0f} not finite").format(wrong)
        seen = int(band.points.steps[at])
        if seen != self._cursor:
            said += self.tr(" (as of step {:,})").format(seen + 1)
        return f"{band.title} · {said}"
