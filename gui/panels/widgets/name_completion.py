"""Completing what is typed by words that have it anywhere in them, in whatever case."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QLineEdit


def complete(field: QLineEdit, words: Iterable[str]) -> None:
    """Offer these while somebody types in the field, and none that were offered before."""
    completer = QCompleter([*words], field)
    completer.setFilterMode(Qt.MatchFlag.MatchContains)
    completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    field.setCompleter(completer)
