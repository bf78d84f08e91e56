"""What an empty canvas says: how to begin."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.look.theme import BODY, GRID, Theme, mono, sans

TITLE = "Nothing is drawn yet"
WAYS = (
    ("Tab", "add an operation: type a few letters of its name"),
    ("Double click", "add one there"),
    ("Drag", "one from the palette, at the left"),
    (BY_ID["edit.paste"].shortcut, "paste what was copied in another window"),
    (BY_ID["file.open"].shortcut, "open a document or a TensorFlow graph"),
)
LINE = 22  # pixels
KEYS = 112  # pixels, the column of the keys


def words() -> str:
    """The same for a screen reader."""
    return f"{TITLE}. " + ". ".join(f"{key}: {text}" for key, text in WAYS)


def draw(painter: QPainter, room: QRect, theme: Theme) -> None:
    """In the middle of `room`, pixels; nothing where it does not fit."""
    metrics = QFontMetrics(sans())
    width = KEYS + 2 * GRID + max(metrics.horizontalAdvance(text) for _, text in WAYS)
    height = LINE * (len(WAYS) + 1) + GRID
    place = QRect(0, 0, width, height)
    place.moveCenter(room.center())
    if not room.contains(place):
        return
    painter.setFont(sans(BODY + 2, strong=True))
    painter.setPen(theme.muted)
    painter.drawText(place.adjusted(KEYS + 2 * GRID, 0, 0, 0), Qt.AlignmentFlag.AlignTop, TITLE)
    middle = Qt.AlignmentFlag.AlignVCenter
    for number, (key, text) in enumerate(WAYS, 1):
        line = QRect(place.x(), place.y() + GRID + LINE * number, width, LINE)
        painter.setFont(mono(BODY - 1))
        painter.setPen(theme.text)
        painter.drawText(
            line.adjusted(0, 0, KEYS - width, 0), middle | Qt.AlignmentFlag.AlignRight, key
        )
        painter.setFont(sans())
        painter.setPen(theme.muted)
        painter.drawText(line.adjusted(KEYS + 2 * GRID, 0, 0, 0), middle, text)
