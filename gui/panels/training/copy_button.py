"""The button that copies the curves that are shown, as a picture or as numbers."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton


class CopyButton(QPushButton):
    """copied(what): a copy is wanted, "picture" or "csv"."""

    copied = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setText(self.tr("Copy"))
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Copy the curves"))
        menu = QMenu(self)
        menu.addAction(self.tr("As a picture"), lambda: self.copied.emit("picture"))
        menu.addAction(self.tr("As CSV"), lambda: self.copied.emit("csv"))
        self.setMenu(menu)
