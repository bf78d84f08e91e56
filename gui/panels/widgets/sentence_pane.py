"""Sentences in sections, each with a title: what something comes to, before its table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.panels.widgets.small_labels import SectionHeader, ThemeSource, Wrapped

Said = tuple[str, str, Sequence[tuple[str, Tone]]]  # title, remark, paragraphs


class SentencePane(QWidget):
    """panel: the name of the panel that it is in."""

    def __init__(self, theme: ThemeSource, panel: str) -> None:
        super().__init__()
        self.setObjectName(f"{panel}.verdict")
        self._sentence = f"{panel}.sentence"
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 0, 12, GRID)
        self._column.setSpacing(GRID // 2)
        self._column.addStretch(1)
        self._parts: list[QWidget] = []
        self._said: Sequence[Said] = ()

    def say(self, sections: Sequence[Said]) -> None:
        if sections == self._said:
            return
        self._said = sections
        for part in self._parts:
            part.hide()  # it goes once the event is over, and must not lie there until then
            part.deleteLater()
        self._parts = [part for section in sections for part in self._section(*section)]
        for number, part in enumerate(self._parts):
            self._column.insertWidget(number, part)

    def text(self) -> str:
        """All that is said, a paragraph a line."""
        said = (part for part in self._parts if isinstance(part, Wrapped))
        return "\n".join(part.text() for part in said)

    def _section(
        self, title: str, remark: str, paragraphs: Sequence[tuple[str, Tone]]
    ) -> list[QWidget]:
        head = SectionHeader(self._theme, title)
        head.set_texts(title, remark)
        parts: list[QWidget] = [head] if title else []
        for text, tone in paragraphs:
            part = Wrapped(self._theme, self._sentence, tone)
            part.setText(text)
            parts.append(part)
        return parts
