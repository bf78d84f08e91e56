"""The console panel: the debugger by lines of text, as in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QShowEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from gradstep.core.command_text import is_open
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import LinePicture
from gradstep.core.visible_text import visible
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import GRID, Tone, mono
from gradstep.gui.model.console_lines import PROMPT
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.panel_base import Panel

MOST = 5_000  # lines that are kept
LINES = 6  # of what is being typed that are seen
_TONES: dict[str, Tone] = {
    "line": "selection",
    "text": "text",
    "problem": "problem",
    "printed": "muted",
}


class ConsolePanel(Panel):
    """Enter does what was typed, Shift+Enter begins another line of it, Up and Down go through what
    was typed before, Tab completes; an empty line repeats the last move."""

    title = "Console"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "console")
        self.lines = workspace.console
        self.text = QTextEdit()
        self.text.setObjectName("console.text")
        self.text.setAccessibleName(self.tr("What the console said"))
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.document().setMaximumBlockCount(MOST)
        self.text.setFont(mono(12))
        self.text.setFrameShape(QTextEdit.Shape.NoFrame)
        self._said: list[Callable[[], None]] = []  # to be coloured anew with another theme
        self._follows = True  # whether the view shows the end, and goes on to
        bar = self.text.verticalScrollBar()
        bar.valueChanged.connect(self._note_follows)
        bar.rangeChanged.connect(self._follow)
        self.field = ConsoleField()
        self.typed_into = self.field
        self.field.setObjectName("console.line")
        self.field.setAccessibleName(self.tr("Line for the debugger"))
        self.field.setPlaceholderText(self.tr("step, continue, print x, query isnan(value), help"))
        self.field.entered.connect(self._run)
        self.field.asked.connect(lambda: self.lines.complete(self.field.text()))
        self.field.walked.connect(self._walk)
        self._place = 0  # in the history, from its end
        row = QHBoxLayout()
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        prompt = Label(PROMPT.strip())
        prompt.setFont(mono(12))
        self.field.fitted.connect(prompt.setFixedHeight)  # beside the first line
        row.addWidget(prompt, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.field, 1)
        shell = QWidget()
        around = QHBoxLayout(shell)
        around.setContentsMargins(GRID, GRID // 2, GRID, 0)
        around.addWidget(self.text)
        self.column.addWidget(shell, 1)
        self.column.addLayout(row)
        self.lines.said.connect(self._add)
        self.lines.drawn.connect(self._draw)
        self.lines.completed.connect(self._complete)
        workspace.document_opened.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Whether there is anything to talk about."""
        if self.workspace.is_open:
            self.show_content()
        else:
            self.show_empty(
                self.tr("The debugger takes lines of text here once a document is open.")
            )

    def restyle(self) -> None:
        super().restyle()
        said, self._said = self._said, []
        self.text.clear()
        for say_again in said:
            say_again()

    def _run(self) -> None:
        line = self.field.text()
        self.field.clear()
        self._place = 0
        self.lines.run(line)

    def _walk(self, by: int) -> None:
        """Show the line before, or after, in the history."""
        history = self.lines.history
        self._place = min(max(self._place + by, 0), len(history))
        self.field.setText(history[-self._place] if self._place else "")

    def _complete(self, typed: str, lines: Sequence[str]) -> None:
        """Go on as far as all of them do; where there are several, list them."""
        if typed != self.field.text() or not lines:
            return
        common = _begin_of_all(lines)
        self.field.setText(common)
        if len(lines) > 1 and common == typed:
            shared = max(typed.rfind(" "), typed.rfind("\n")) + 1
            words = [line[shared:].strip() for line in lines]
            self._add("  ".join(words), "printed")

    def _add(self, text: str, tone: str) -> None:
        self._note(partial(self._add, text, tone))
        kind = QTextCharFormat()
        kind.setForeground(QColor(self.theme.tone(_TONES[tone])))
        shown = "\n".join(visible(line) for line in text.split("\n"))
        if tone == "line":
            self._follows = True
        self._end().insertText(shown, kind)
        self._follow()

    def _draw(self, picture: LinePicture, buffers: tuple[Buffer, ...]) -> None:
        """A small picture below what was said last."""
        from gradstep.gui.panels.console_drawing import draw  # not at the first paint

        self._note(partial(self._draw, picture, buffers))
        self._end().insertImage(draw(picture, buffers, self.theme))
        self._follow()

    def _note(self, say_again: Callable[[], None]) -> None:
        self._said.append(say_again)
        del self._said[:-MOST]

    def _end(self) -> QTextCursor:
        """At the beginning of a new line there."""
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.text.document().isEmpty():
            cursor.insertText("\n")
        return cursor

    def _note_follows(self, value: int) -> None:
        self._follows = value == self.text.verticalScrollBar().maximum()

    def _follow(self, *_: object) -> None:
        """Keep the end in view if it was: there is more text, or less room for it."""
        bar = self.text.verticalScrollBar()
        if self._follows:
            bar.setValue(bar.maximum())


class ConsoleField(QPlainTextEdit):
    """entered(): Enter, of what is complete; Shift+Enter, or Enter while a bracket is open, begins
    another line. asked(): Tab, to complete; walked(by): Up in the first line is +1, Down in the
    last -1. fitted(height): pixels that one line takes."""

    entered = Signal()
    fitted = Signal(int)
    asked = Signal()
    walked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setFont(mono(12))
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        return self.toPlainText()

    def setText(self, text: str) -> None:
        """The cursor is behind it."""
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _fit(self, *_: object) -> None:
        """As high as its lines, up to a few."""
        lines = min(max(self.blockCount(), 1), LINES)
        margins = self.contentsMargins()
        around = margins.top() + margins.bottom() + 2 * int(self.document().documentMargin())
        around += 1  # or Qt would scroll
        line = self.fontMetrics().lineSpacing()
        self.setFixedHeight(lines * line + around)
        self.fitted.emit(line + around)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()  # with what the style puts around

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Tab completes a line; an empty one it leaves for the next widget."""
        key = event.key() if isinstance(event, QKeyEvent) else None
        is_press = event.type() is QEvent.Type.KeyPress
        if is_press and key == Qt.Key.Key_Tab and self.text():
            self.asked.emit()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, cursor = Qt.Key(event.key()), self.textCursor()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            more = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            if more or (is_open(self.text()) and self._has_words(cursor)):
                cursor.insertBlock()
                self.ensureCursorVisible()
            else:
                self.entered.emit()
        elif key == Qt.Key.Key_Up and cursor.blockNumber() == 0:
            self.walked.emit(1)
        elif key == Qt.Key.Key_Down and cursor.blockNumber() == self.blockCount() - 1:
            self.walked.emit(-1)
        else:
            super().keyPressEvent(event)

    @staticmethod
    def _has_words(cursor: QTextCursor) -> bool:
        """Whether the line does not end what is open, as an empty one does."""
        return bool(cursor.block().text().strip())


def _begin_of_all(lines: Sequence[str]) -> str:
    """As far as they are alike."""
    first, last = min(lines), max(lines)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(a for a, _ in alike)
