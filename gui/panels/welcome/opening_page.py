"""What stands in place of the canvas while a file is read that takes longer than a blink."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gradstep.gui.look.theme import BODY, GRID, sans
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource

WHAT = "The graph is read, and the types of its tensors are inferred."


class OpeningPage(QWidget):
    """The name of the file, what is done with it, and a way back."""

    canceled = Signal()

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("opening")
        self._name = Text(theme, "text", sans(BODY + 2, strong=True))
        self._name.setObjectName("opening.name")
        self._what = Text(theme, "muted")
        self._what.set_text(WHAT)
        cancel = QPushButton("Cancel")
        cancel.setObjectName("opening.cancel")
        cancel.clicked.connect(self.canceled)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addStretch(2)
        for part in (self._name, self._what, cancel):
            part.setMaximumWidth(part.sizeHint().width())
            column.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter)
        column.insertSpacing(3, GRID)
        column.addStretch(3)

    def say(self, name: str) -> None:
        """Which file it is."""
        self.setAccessibleName(f"Opening {name}")
        self._name.set_text(f"Opening {name}…")
        self._name.setMaximumWidth(self._name.sizeHint().width())
