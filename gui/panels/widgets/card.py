"""A card: a tinted block with a strong title, text, and links to what can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.gui.look.theme import BODY, GRID, Tone, mix, sans
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.small_labels import Link, Text, ThemeSource, Wrapped

LinkSpec = tuple[str, str, Callable[[], None]]  # text, object name, what it does


class Card(QWidget):
    """Red for what is wrong. Its parts are replaced by `say`."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        self._tone: Tone = "problem"
        column = QVBoxLayout(self)
        column.setContentsMargins(12, GRID, 12, GRID)
        column.setSpacing(GRID // 2)
        self.title = Text(theme, self._tone, sans(BODY, strong=True))
        self.body = Wrapped(theme, f"{name}.text")
        self.hint = Wrapped(theme, f"{name}.hint", "muted")
        self._links = QWidget()
        self._row = FlowLayout(self._links, 2 * GRID)
        for part in (self.title, self.body, self.hint, self._links):
            column.addWidget(part)

    def say(
        self,
        title: str,
        text: str,
        links: Sequence[LinkSpec] = (),
        hint: str = "",
        tone: Tone = "problem",
    ) -> None:
        """Show the card with this text, what to do about it, and these links."""
        self._tone = tone
        self.title.set_text(title, tone)
        self.body.setText(text)
        self.body.setVisible(bool(text))
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()  # it goes once the event is over, and must not lie there until then
                widget.deleteLater()
        for words, name, action in links:
            link = Link(self._theme, words, name)
            link.clicked.connect(action)
            self._row.addWidget(link)
        self._links.setVisible(bool(links))
        self.setAccessibleName(title)
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme()
        color = theme.tone(self._tone)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(mix(theme.panel, color, 0.45), 1))
        painter.setBrush(
            theme.problem_fill if self._tone == "problem" else mix(theme.panel, color, 0.1)
        )
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
