"""A field for text, and below it why what was typed there cannot be."""

from __future__ import annotations

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gradstep.gui.panels.widgets.small_labels import ThemeSource, Wrapped


class ReasonedField(QWidget):
    """told: with the reason; with "" once there is none."""

    def __init__(self, theme: ThemeSource, field: QLineEdit, told: SignalInstance) -> None:
        super().__init__()
        self._theme, self._name = theme, f"{field.objectName()}.reason"
        self._reason: Wrapped | None = None  # most texts are never wrong
        told.connect(self._say)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(field)

    def _say(self, reason: str) -> None:
        if self._reason is None:
            if not reason:
                return
            self._reason = Wrapped(self._theme, self._name, "problem")
            self._column.addWidget(self._reason)
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
