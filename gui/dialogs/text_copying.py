"""Putting a text on the clipboard by a button, which says for a moment that it did."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

COPIED = 1500  # milliseconds that a button says so


def copy_text(button: QPushButton, text: str) -> None:
    """Copy `text`; the button keeps its width."""
    QGuiApplication.clipboard().setText(text)
    before, width = button.text(), button.width()
    if before != "Copied":
        button.setMinimumWidth(width)
        button.setText("Copied")
        QTimer.singleShot(COPIED, button, lambda: button.setText(before))
