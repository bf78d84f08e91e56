"""Rows of images with the largest loss: their pictures, what they are, what they were taken for."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Classified, WorstRow
from gradstep.core.visible_text import visible
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import SMALL, mono
from gradstep.gui.panels.classes.class_matrix import class_name
from gradstep.gui.panels.widgets.small_labels import ThemeSource

SIDE = 56  # pixels of a picture
WIDTH, LINE, GAP = 72, 15, 8  # pixels of a card, of a line of text below, and between cards
HEIGHT = SIDE + 2 * LINE + 2


class WorstPictures(QWidget):
    """chosen(row): the user wants to see the row of that number."""

    chosen = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("classes.pictures")
        self.setAccessibleName(self.tr("Rows with the largest loss"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        self._seen: Classified | None = None
        self._images: list[QImage] = []
        self._here = -1

    def show_rows(self, seen: Classified | None, pixels: Buffer) -> None:
        """Other rows; None for none."""
        self._seen, self._images = seen, [] if seen is None else images_of(seen, pixels)
        self._here = min(self._here, len(self._images) - 1)
        self._fit()
        self.update()

    @property
    def _columns(self) -> int:
        return max((self.width() - GAP) // (WIDTH + GAP), 1)

    def _fit(self) -> None:
        lines = math.ceil(len(self._images) / self._columns)
        self.setMinimumHeight(lines * (HEIGHT + GAP))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def card_rect(self, place: int) -> QRect:
        """Where a card is painted."""
        line, column = divmod(place, self._columns)
        return QRect(GAP + column * (WIDTH + GAP), line * (HEIGHT + GAP), WIDTH, HEIGHT)

    def card_at(self, at: QPoint) -> int:
        """-1 where there is none."""
        places = range(len(self._images))
        return next((place for place in places if self.card_rect(place).contains(at)), -1)

    # -- the picture -----------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme().panel)
        if self._seen is None:
            return
        for place, image in enumerate(self._images):
            card = self.card_rect(place)
            if card.intersects(event.rect()):
                self._paint_card(painter, card, image, self._seen.worst[place])
                if place == self._here and (self.underMouse() or self.hasFocus()):
                    painter.setPen(QPen(self._theme().selection, 1))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.drawRect(card.adjusted(-2, -1, 1, 1))

    def _paint_card(self, painter: QPainter, card: QRect, image: QImage, row: WorstRow) -> None:
        theme, size = self._theme(), image.size().scaled(SIDE, SIDE, _KEEP)
        place = QRect(card.x() + (WIDTH - size.width()) // 2, card.y(), size.width(), size.height())
        painter.drawImage(place, image)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place.adjusted(0, 0, -1, -1))
        painter.setFont(mono(SMALL))
        wrong = row.actual != row.taken
        lines = ((self._verdict(row), theme.problem if wrong else theme.text),)
        for number, (text, color) in enumerate((*lines, (loss_text(row.loss), theme.muted))):
            box = QRect(card.x(), card.y() + SIDE + 2 + number * LINE, WIDTH, LINE)
            painter.setPen(color)
            said = QFontMetrics(painter.font()).elidedText(visible(text), _RIGHT, WIDTH)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, said)

    def _verdict(self, row: WorstRow) -> str:
        """ "8 as 9": what it is, and what it was taken for."""
        assert self._seen is not None
        return verdict(self._seen, row, self.tr("{} as {}"))

    # -- the user --------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self.card_at(event.position().toPoint()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.card_at(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and place >= 0:
            self._choose(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move, Enter chooses."""
        ways = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -self._columns,
            Qt.Key.Key_Down: self._columns,
        }
        if event.key() in ways and self._images:
            to = self._here + ways[Qt.Key(event.key())] if self._here >= 0 else 0
            self._point(min(max(to, 0), len(self._images) - 1))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._here >= 0:
            self._choose(self._here)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self._words(self.card_at(event.pos())), self)
            return True
        return super().event(event)

    def _words(self, place: int) -> str:
        if place < 0 or self._seen is None:
            return ""
        row = self._seen.worst[place]
        said = self.tr("Row {:,} is {}, taken for {}; loss {}")
        names = (class_name(self._seen, number) for number in (row.actual, row.taken))
        return said.format(row.row, *names, loss_text(row.loss))

    def _point(self, place: int) -> None:
        if place != self._here:
            self._here = place
            self.setAccessibleDescription(self._words(place))
            self.update()

    def _choose(self, place: int) -> None:
        assert self._seen is not None
        self.chosen.emit(self._seen.worst[place].row)

    def sizeHint(self) -> QSize:
        return QSize(3 * (WIDTH + GAP), HEIGHT)


_KEEP, _RIGHT = Qt.AspectRatioMode.KeepAspectRatio, Qt.TextElideMode.ElideRight


def verdict(seen: Classified, row: WorstRow, wrong: str) -> str:
    """What a row is, and by `wrong` what it was taken for, where that is another class."""
    actual = class_name(seen, row.actual)
    if row.taken == row.actual:
        return actual
    return wrong.format(actual, class_name(seen, row.taken))


def loss_text(loss: float) -> str:
    """Three digits; "NaN", "Inf"."""
    if math.isfinite(loss):
        return f"{loss:.3g}"
    return "NaN" if math.isnan(loss) else "Inf"


def images_of(seen: Classified, pixels: Buffer) -> list[QImage]:
    """The pictures of the worst rows; none where these are numbers."""
    if len(seen.picture) != 3:
        return []
    height, width, channels = seen.picture
    kind = QImage.Format.Format_RGB888 if channels == 3 else QImage.Format.Format_Grayscale8
    size, data = height * width * channels, bytes(pixels)
    parts = (data[n * size : (n + 1) * size] for n in range(len(seen.worst)))
    return [QImage(part, width, height, channels * width, kind).copy() for part in parts]
