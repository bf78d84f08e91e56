"""Links at the end of a row of the problems panel: to where it began, an edit, an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics

from gradstep.core.document.named_edits import label_of
from gradstep.gui.look.theme import GRID, sans
from gradstep.gui.model.problem_rows import ProblemRow

LinkKind = Literal["first", "mend", "try", "example", "ignore"]
_GAP = 2 * GRID


@dataclass(frozen=True, slots=True)
class RowLink:
    """place: in the row, from where its links begin."""

    kind: LinkKind
    text: str
    place: QRect


def links_of(row: ProblemRow, width: int) -> list[RowLink]:
    """Beside each other, and below where there is no room of `width` pixels."""
    metrics, found = QFontMetrics(sans()), list[RowLink]()
    across = down = 0
    for kind, text in _wanted(row):
        size = metrics.horizontalAdvance(text)
        if across and across + size > width:
            across, down = 0, down + metrics.height() + 2
        found.append(RowLink(kind, text, QRect(across, down, size, metrics.height() + 1)))
        across += size + _GAP
    return found


def _wanted(row: ProblemRow) -> list[tuple[LinkKind, str]]:
    if row.why is not None:
        return [("first", "Take me to the first one"), ("try", "Try what mends it…")]
    finding = row.finding
    if finding is None:
        return []
    found: list[tuple[LinkKind, str]] = []
    if finding.remedy:
        found.append(("mend", label_of(finding.remedy, finding.names)))
        found.append(("try", "Try it first"))
    if finding.example:
        found.append(("example", "Show an example"))
    return [*found, ("ignore", "Ignore…")]
