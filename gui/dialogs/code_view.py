"""Python source in the monospace face: coloured, indented by four, with a line marked as wrong."""

from __future__ import annotations

import builtins
import keyword
import re

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import Theme, mono

INDENT = "    "
_NEWLINE = re.compile("\r\n?")


class CodeView(QPlainTextEdit):
    """An editor for a function of a few lines. What would hide or reorder its text is written out:
    what is read here is what runs."""

    def __init__(self, theme: Theme, source: str, name: str) -> None:
        super().__init__(visible(_NEWLINE.sub("\n", source)))
        self.setObjectName(name)
        self.setAccessibleName("Python code")
        self.setFont(mono())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self._theme = theme
        self._colors = _Highlighter(self.document(), theme)
        self.textChanged.connect(lambda: self.mark(0))

    def mark(self, line: int) -> None:
        """Show line number `line` (from 1) as the wrong one; 0 for none."""
        if line <= 0:
            self.setExtraSelections([])
            return
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(self._theme.problem_fill)
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
        self.setExtraSelections([selection])
        self.setTextCursor(selection.cursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Tab:
            self.insertPlainText(INDENT)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            line = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
            deeper = INDENT if line.rstrip().endswith(":") else ""
            indent = line[: len(line) - len(line.lstrip())]
            self.insertPlainText("\n" + indent + deeper)
        else:
            super().keyPressEvent(event)


class _Highlighter(QSyntaxHighlighter):
    """Keywords, strings, numbers, comments; no more, in four quiet colours."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        words = r"\b(?:" + "|".join(keyword.kwlist) + r")\b"
        names = [name for name in dir(builtins) if name.islower() and name.isalpha()]
        known = r"\b(?:" + "|".join(names) + r")\b"
        self._rules = [
            (re.compile(known), _format(theme.forward)),
            (re.compile(words), _format(theme.override)),
            (re.compile(r"\b\d[\d_.eE+-]*\b"), _format(theme.backward)),
            (re.compile(r"([\"'])(?:\\.|(?!\1).)*\1"), _format(theme.update)),
            (re.compile(r"#.*"), _format(theme.muted)),
        ]

    def highlightBlock(self, text: str) -> None:
        for pattern, form in self._rules:
            for match in pattern.finditer(text):
                self.setFormat(match.start(), match.end() - match.start(), form)


def _format(color: QColor) -> QTextCharFormat:
    form = QTextCharFormat()
    form.setForeground(color)
    return form
