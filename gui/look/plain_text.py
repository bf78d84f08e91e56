"""Texts as they stand: nothing of a document is ever rich text, a mnemonic, or unseen.

Qt guesses whether the text of a tip, a label or a message box is HTML, and loads the files that it
names. So tips and boxes get their text through `plain`, labels are `Label`, and menus and buttons
get names through `without_mnemonic`; tests/test_plain_fence.py finds what does not.
"""

from __future__ import annotations

from html import escape
from typing import Any

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QAction, QKeySequence, Qt
from PySide6.QtWidgets import QLabel, QMenu, QMessageBox, QToolTip, QWidget

from gradstep.core.visible_text import visible


def plain(text: str) -> str:
    """What Qt shows as `text`, letter by letter, where it guesses the format."""
    text = visible(text)
    if not Qt.mightBeRichText(text):
        return text
    return f'<qt><span style="white-space:pre-wrap">{escape(text)}</span></qt>'


def without_mnemonic(text: str) -> str:
    """`text` for a menu, a tab or a button: without a mnemonic."""
    return visible(text).replace("&", "&&")


def add_row(menu: QMenu, text: str) -> QAction:
    """A row of a menu that bears a name. Its tip is set as well: Qt's is its text."""
    row = menu.addAction(without_mnemonic(text))
    row.setToolTip(plain(text))
    return row


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """A tool tip now, at a point of the screen; "" hides it."""
    QToolTip.showText(at, plain(text), widget)


class Label(QLabel):
    """A label that shows its text as it stands."""

    def __init__(self, text: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(visible(text))

    def changeEvent(self, event: QEvent) -> None:
        """With another theme Qt takes the margins away from a label that is no wider than they are:
        one that says nothing yet."""
        margins = self.contentsMargins()
        super().changeEvent(event)
        self.setContentsMargins(margins)


class MessageBox(QMessageBox):
    """A question that shows its words as they stand."""

    def __init__(self, parent: QWidget, title: str, text: str, more: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(visible(title))
        self.setText(plain(text))
        self.setInformativeText(plain(more))


class Worded:
    """Of a button that draws its own text: without a mnemonic. Before the Qt class among bases."""

    def setText(self: Any, text: str) -> None:
        super().setText(visible(text))  # type: ignore[misc]
        self.setShortcut(QKeySequence())  # Qt made one of what followed an ampersand
