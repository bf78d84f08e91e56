"""The start page's entries: an example with its picture, a recent file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from gradstep.core.program.trust.example_index import EXAMPLES, ExampleEntry
from gradstep.gui.look.plain_text import Worded, plain
from gradstep.gui.look.theme import BODY, GRID, SMALL, Theme, fade, mix, mono, sans
from gradstep.gui.panels.widgets.misconception_card import MARK, paint_mark
from gradstep.gui.panels.widgets.small_labels import ThemeSource

PICTURE = QSize(272, 152)
TEXT_HEIGHT = 64
PICTURES = EXAMPLES / "pictures"
ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}

DISPUTED = "often said"
_MIDDLE = Qt.AlignmentFlag.AlignVCenter

Wants = Callable[["Card"], None]
Leave = Callable[["Card", int, int], None]


class Card(QAbstractButton):
    """An example: its graph as a picture, its title, what to see in it.

    wants: called when the card is seen without its picture; leave: when an arrow key leads away
    from it, with where to.
    """

    def __init__(self, theme: ThemeSource, entry: ExampleEntry, wants: Wants, leave: Leave) -> None:
        super().__init__()
        self.entry = entry
        self.path = EXAMPLES / f"{entry.name}.gradstep"
        self._theme, self._wants, self._leave = theme, wants, leave
        self._picture: QPixmap | None = None
        self.setText(entry.title)
        self.setObjectName(f"welcome.example.{entry.name}")
        self.setAccessibleName(f"{entry.title}. {entry.sentence}")
        self.setToolTip(plain(entry.sentence))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def is_drawn(self) -> bool:
        return self._picture is not None

    def draw(self) -> None:
        """Take the picture that came with the program, or draw the graph."""
        theme, ratio = self._theme(), self.devicePixelRatioF()
        self._picture = shipped_picture(self.entry.name, theme) or _drawn(self.path, theme, ratio)
        self.update()

    def forget(self) -> None:
        """The picture is to be made anew."""
        self._picture = None
        self.update()

    def sizeHint(self) -> QSize:
        return PICTURE + QSize(0, TEXT_HEIGHT)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason:
            self._leave(self, 0, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in ARROWS:
            self._leave(self, *ARROWS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        box = QRectF(0.5, 0.5, self.width() - 1, PICTURE.height() - 1)
        shape = QPainterPath()
        shape.addRoundedRect(box, 8, 8)
        painter.fillPath(shape, theme.background)
        if self._picture is None:
            self._wants(self)
        else:
            painter.setClipPath(shape)
            left = (self.width() - self._picture.deviceIndependentSize().width()) / 2
            painter.drawPixmap(QPointF(left, 0), self._picture)
            painter.setClipping(False)
        lit = self.underMouse() or self.hasFocus()
        painter.setPen(QPen(theme.selection if lit else theme.line, 2 if self.hasFocus() else 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(shape)
        if self.entry.disputed:
            self._paint_badge(painter)
        self._paint_text(painter)

    def _paint_text(self, painter: QPainter) -> None:
        theme = self._theme()
        top = PICTURE.height() + GRID
        painter.setFont(sans(strong=True))
        painter.setPen(theme.text)
        metrics = painter.fontMetrics()
        title = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - 4)
        painter.drawText(2, top + metrics.ascent(), title)
        painter.setFont(sans(SMALL + 1))
        painter.setPen(theme.muted)
        metrics = painter.fontMetrics()
        for number, line in enumerate(two_lines(self.entry.sentence, metrics, self.width() - 4)):
            painter.drawText(2, top + 20 + metrics.ascent() + number * metrics.height(), line)

    def _paint_badge(self, painter: QPainter) -> None:
        """That a claim is held against the truth."""
        theme = self._theme()
        painter.setFont(sans(SMALL))
        width = painter.fontMetrics().horizontalAdvance(DISPUTED) + MARK + 3 * GRID // 2 + 4
        pill = QRectF(self.width() - width - GRID, GRID, width, 20)
        painter.setPen(QPen(mix(theme.panel, theme.problem, 0.45), 1))
        painter.setBrush(theme.problem_fill)
        painter.drawRoundedRect(pill, 10, 10)
        mark = QRectF(pill.x() + 6, pill.y(), MARK, pill.height())
        paint_mark(painter, mark, False, QPen(theme.problem, 1.4))
        painter.setPen(theme.text)
        painter.drawText(pill.adjusted(MARK + GRID, 0, 0, 0), _MIDDLE, DISPUTED)


class RecentFile(Worded, QAbstractButton):
    """A file's name; the folder it is in is its tool tip."""

    def __init__(self, theme: ThemeSource, path: Path) -> None:
        super().__init__()
        self._theme, self._path = theme, path
        self.setText(path.name)
        self.setObjectName(f"welcome.recent.{path.name}")
        self.setAccessibleName(f"Open {path.name}")
        self.setToolTip(plain(str(path)))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(3 * GRID + 4)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme()
        painter = QPainter(self)
        if self.underMouse() or self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fade(theme.hover, 1))
            painter.drawRoundedRect(self.rect(), 5, 5)
        painter.setFont(mono(BODY - 1))
        painter.setPen(theme.text)
        room = self.rect().adjusted(GRID, 0, -GRID, 0)
        name = QFontMetrics(painter.font()).elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)


def two_lines(text: str, metrics: QFontMetrics, width: int) -> list[str]:
    """As much of `text` as two lines hold, broken between words."""
    words = text.split()
    first: list[str] = []
    while words and metrics.horizontalAdvance(" ".join([*first, words[0]])) <= width:
        first.append(words.pop(0))
    second = metrics.elidedText(" ".join(words), Qt.TextElideMode.ElideRight, width)
    return [" ".join(first), second]


def picture_file(name: str, theme: Theme) -> Path:
    """Where the picture of an example stands, at twice its size on the page."""
    return PICTURES / f"{name}-{theme.name}.webp"


def shipped_picture(name: str, theme: Theme) -> QPixmap | None:
    """The picture that came with the program; None if there is none."""
    picture = QPixmap(str(picture_file(name, theme)))
    if picture.isNull():
        return None
    picture.setDevicePixelRatio(picture.width() / PICTURE.width())
    return picture


def _drawn(path: Path, theme: Theme, ratio: float) -> QPixmap:
    from gradstep.core.errors import GradstepError
    from gradstep.core.io.open_document import read
    from gradstep.gui.canvas.graph_thumbnail import thumbnail

    try:
        return thumbnail(read(path), PICTURE, theme, ratio)
    except GradstepError:
        return QPixmap(1, 1)  # opening it will say what is wrong
