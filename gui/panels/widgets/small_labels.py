"""Small texts: elided labels, captions, links, and the header of a section."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QFont,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from gradstep.core.visible_text import visible
from gradstep.gui.look.plain_text import Label, Worded, plain
from gradstep.gui.look.theme import BODY, GRID, Theme, Tone, mono, sans
from gradstep.gui.panels.widgets.last_rooms import LastRooms
from gradstep.gui.panels.widgets.text_lines import ENDLESS, TextLines

ThemeSource = Callable[[], Theme]

BREAK = "\u200b"  # of no width; a line may end there
_SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse
_FIXED = Qt.TextInteractionFlag.NoTextInteraction
_MOST = 80  # letters of a line, where a paragraph may be as wide as it wants
NO_BREAK = "\u00a0"  # a space at which no line ends
_LONG = re.compile(r"[\w./:]{24,}")
_PART = re.compile(r"[^\W_]*[\W_]*")  # of a long name, with the signs that end it
_MOST_UNBROKEN = 24  # letters


class Text(QWidget):
    """One line in a theme colour, elided to its room; the whole of it is the tool tip then. elide:
    where; names are told apart by their ends."""

    def __init__(
        self,
        theme: ThemeSource,
        tone: Tone = "text",
        font: QFont | None = None,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__()
        self._elide = elide
        self._theme, self._tone, self._text, self._tip = theme, tone, "", ""
        self._width = 0  # pixels of the text
        self.setFont(font or sans())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        return self._text

    def set_text(self, text: str, tone: Tone | None = None) -> None:
        before = self._text, self._tone
        self._text, self._tone = visible(text), tone or self._tone
        if (self._text, self._tone) == before:
            return
        if self._text != before[0]:
            self._width = self.fontMetrics().horizontalAdvance(self._text)
            self.setAccessibleName(self._text)
            self.updateGeometry()
        self.update()

    def set_tip(self, tip: str) -> None:
        """What the tool tip says besides."""
        if tip != self._tip:
            self._tip = tip
            self.setToolTip(plain(tip))

    def sizeHint(self) -> QSize:
        return QSize(self._width + 2, self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(24, self._width + 2), self.fontMetrics().height() + 4)

    def enterEvent(self, event: QEnterEvent) -> None:
        whole = "" if self._width <= self.width() else self._text
        self.setToolTip(plain("\n".join(filter(None, (whole, self._tip)))))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self._theme().tone(self._tone))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, self.shown)

    @property
    def shown(self) -> str:
        """As much of the text as there is room for."""
        if self._width <= self.width():
            return self._text
        return QFontMetrics(self.font()).elidedText(self._text, self._elide, self.width())


class Link(Worded, QAbstractButton):
    """Words that do something: coloured text, underlined under the pointer and with the focus, and
    elided to its room; the whole is the tool tip then, but where it has another. elide: where."""

    def __init__(
        self,
        theme: ThemeSource,
        text: str,
        name: str,
        tone: Tone = "selection",
        code: bool = False,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__()
        self._elide, self._tip, self._told = elide, "", ""
        self._theme, self._tone = theme, tone
        self.setText(text)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setFont(mono() if code else sans())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        """Other words, for screen readers as well."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)
            self.updateGeometry()

    def set_tip(self, tip: str) -> None:
        """What the tool tip says besides."""
        self._tip = tip
        self._tell("")

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self.text()) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(40, self.sizeHint().width()), self.sizeHint().height())

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        if self.toolTip() in ("", self._told):
            self._tell("" if self.shown == self.text() else self.text())

    def _tell(self, whole: str) -> None:
        said = "\n".join(filter(None, (whole, self._tip)))
        self.setToolTip(plain(said))
        self._told = self.toolTip()

    @property
    def shown(self) -> str:
        """As much of the text as there is room for."""
        return QFontMetrics(self.font()).elidedText(self.text(), self._elide, self.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = QFont(self.font())
        font.setUnderline(self.underMouse() or self.hasFocus())
        painter.setFont(font)
        theme = self._theme()
        painter.setPen(theme.tone(self._tone) if self.isEnabled() else theme.disabled)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, self.shown)


class SectionHeader(QWidget):
    """The strong title of a section, and a remark to the right of it."""

    def __init__(self, theme: ThemeSource, title: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, GRID, 0, GRID // 2)
        row.setSpacing(2 * GRID)
        self.title = Text(theme, "text", sans(BODY, strong=True))
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.title.set_text(title)
        self.remark = Text(theme, "muted")
        row.addWidget(self.title)
        row.addWidget(self.remark, 1)

    def set_texts(self, title: str, remark: str = "", tone: Tone = "muted") -> None:
        self.title.set_text(title)
        self.remark.set_text(remark, tone)


class Wrapped(Label):
    """A paragraph in a theme colour that wraps and may be selected. Only while the pointer is there
    Qt lays it out: that of text which can be selected takes ten times as long."""

    def __init__(
        self, theme: ThemeSource, name: str, tone: Tone = "text", code: bool = False
    ) -> None:
        super().__init__()
        self._theme, self._tone = theme, tone
        self._lines: LastRooms[TextLines] = LastRooms()
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setFont(mono(12) if code else sans())
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(_FIXED)  # Qt's own would have links that can be clicked
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setMinimumWidth(0)
        self.restyle()

    def setText(self, text: str) -> None:
        """Also a long name without a space must not make the panel wider than it is."""
        text = _LONG.sub(lambda word: _breakable(word.group()), text)
        if visible(text) == super().text():
            return  # what is selected of it stays so
        self._lines.clear()
        self._set_selectable(False)
        super().setText(text)
        self._set_selectable(self.underMouse())

    def text(self) -> str:
        return super().text().replace(BREAK, "").replace(NO_BREAK, " ")

    def set_tone(self, tone: Tone) -> None:
        """In another colour."""
        self._tone = tone
        self.restyle()

    def restyle(self) -> None:
        """Take the colour from the theme anew."""
        palette = self.palette()
        palette.setColor(self.foregroundRole(), self._theme().tone(self._tone))
        self.setPalette(palette)

    # -- room ----------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        across = min(self._in(ENDLESS).size.width(), _MOST * self.fontMetrics().averageCharWidth())
        return QSize(across, self._in(across).size.height()).grownBy(self.contentsMargins())

    def minimumSizeHint(self) -> QSize:
        line = self._in(ENDLESS)
        return QSize(line.least, line.size.height()).grownBy(self.contentsMargins())

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        lines = self._in(width - margins.left() - margins.right())
        return lines.size.height() + margins.top() + margins.bottom()

    def _in(self, room: int) -> TextLines:
        found = self._lines.get(room)
        if found is None:
            found = self._lines.get(ENDLESS)
            if found is None or found.size.width() > room:
                found = TextLines(super().text(), self.font(), room)
            self._lines[room] = found
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._is_selectable:
            super().paintEvent(event)
            return
        room, painter = self.contentsRect(), QPainter(self)
        painter.setPen(self._theme().tone(self._tone))
        self._in(room.width()).draw(painter, QPointF(room.topLeft()))

    # -- what is selected ----------------------------------------------------------------------

    @property
    def _is_selectable(self) -> bool:
        return self.textInteractionFlags() == _SELECTABLE

    def _set_selectable(self, on: bool) -> None:
        if on is not self._is_selectable:
            self.setTextInteractionFlags(_SELECTABLE if on else _FIXED)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._set_selectable(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasSelectedText():
            self._set_selectable(False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._set_selectable(True)  # also where nobody said that the pointer came
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._set_selectable(True)
        super().contextMenuEvent(event)


def _breakable(name: str) -> str:
    """A line may end behind each of its parts, and anywhere within one that is long itself."""
    parts = filter(None, _PART.findall(name))
    return BREAK.join(part if len(part) <= _MOST_UNBROKEN else BREAK.join(part) for part in parts)
