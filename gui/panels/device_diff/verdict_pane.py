"""What a comparison comes to, in sentences: the first thing that the device panel says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.protocol.messages import Comparison
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.panels.device_diff.device_diff_model import device_label
from gradstep.gui.panels.widgets.small_labels import SectionHeader, ThemeSource, Wrapped

Said = tuple[str, str, Sequence[tuple[str, Tone]]]  # title, remark, paragraphs


class VerdictPane(QWidget):
    """A section for each device, and one for what is dangerous wherever it runs."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("device_diff.verdict")
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
            part = Wrapped(self._theme, "device_diff.sentence", tone)
            part.setText(text)
            parts.append(part)
        return parts


def verdicts(comparisons: Sequence[Comparison], unavailable: Mapping[str, str]) -> list[Said]:
    """Of each device what differs and why; of those that are not there, what is missing."""
    found: list[Said] = []
    for one in comparisons:
        first, *more = one.sentences or [one.text]
        sentences: list[tuple[str, Tone]] = [(first, "text"), *((text, "muted") for text in more)]
        if not one.measured:
            sentences.append((f"{device_label(one.right)} is emulated: {one.source}", "faint"))
        found.append((device_label(one.right), one.brief, sentences))
    missing: list[tuple[str, Tone]] = [
        (f"{device_label(name)}: {text}", "muted") for name, text in unavailable.items()
    ]
    if missing:
        found.append(("Not compared", "", missing))
    hazards = dict.fromkeys(hazard for one in comparisons for hazard in one.hazards)
    if hazards:
        found.append(("What systems do otherwise", "", [(text, "muted") for text in hazards]))
    return found
