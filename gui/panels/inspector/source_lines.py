"""The lines of source that an operation is from, and the way to them in the user's editor."""

from __future__ import annotations

from textwrap import dedent

from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit, QVBoxLayout, QWidget

from gradstep.core.debug.breaks.breakpoints import BreakpointKind
from gradstep.core.graph.foreign_origin import (
    ForeignOrigin,
    foreign_name,
    foreign_origin,
    source_line,
)
from gradstep.core.graph.model import Operation
from gradstep.gui import commands
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import drop_all, line_of
from gradstep.gui.panels.inspector.gradient_code import CodePreview
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, Text

AROUND = 4  # lines above and below


class LinePreview(CodePreview):
    """Source that nobody edits, one line of it marked."""

    def mark(self, line: int) -> None:
        """Show line number `line` (from 1) as the one that is meant; 0 changes nothing."""
        if line <= 0:
            return
        mark = QTextEdit.ExtraSelection()
        mark.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
        mark.format.setBackground(self._theme.selected_row)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        self.setExtraSelections([mark])


class SourceLines(QWidget):
    """What a traced operation was in its framework, and where the program asked for it."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.source")
        self._workspace = workspace
        self._shown: tuple[object, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID // 2)
        self.header = SectionHeader(lambda: workspace.theme, self.tr("Source"))
        self._body = QVBoxLayout()
        self._body.setSpacing(GRID // 2)
        column.addWidget(self.header)
        column.addLayout(self._body)

    def show_node(self, op: Operation) -> None:
        """Show where this node is from; nothing, for what was drawn here."""
        origin, run = foreign_origin(op), self._workspace.document.recorded
        name = foreign_name(op)
        self.setVisible(origin is not None or bool(name))
        breaks = source_line(op) in self._broken_lines()
        key = origin, name, run, breaks, self._workspace.theme
        if key == self._shown:
            return
        self._shown = key
        drop_all(self._body)
        self.header.set_texts(self.tr("Source"), "" if origin is None else origin.op)
        if name:
            self._body.addWidget(self._called(name))
        if origin is None:
            return
        if origin.file:
            self._body.addWidget(line_of(self._link(origin)))
            self._body.addWidget(line_of(self._toggle(source_line(op), breaks)))
        else:
            missing = Text(lambda: self._workspace.theme, "muted")
            missing.set_text(self.tr("no line was recorded"))
            self._body.addWidget(missing)
        text = "" if run is None else run.sources.get(origin.file, "")
        if text:
            self._body.addWidget(self._lines(text, origin.line))

    def _called(self, name: str) -> Text:
        """What it is called in its file."""
        text = Text(lambda: self._workspace.theme, "muted")
        text.set_text(self.tr("called {}").format(name))
        return text

    def _link(self, origin: ForeignOrigin) -> Link:
        words = f"{origin.file}:{origin.line}"
        link = Link(lambda: self._workspace.theme, words, "inspector.source.open", code=True)
        link.setToolTip(plain(self.tr("Open this line in your editor")))
        link.clicked.connect(lambda: commands.open_source(self._workspace, origin))
        return link

    def _broken_lines(self) -> set[str]:
        points = self._workspace.document.breakpoints
        return {point.target for point in points if point.kind is BreakpointKind.LINE}

    def _toggle(self, line: str, breaks: bool) -> Link:
        words = self.tr("remove the breakpoint") if breaks else self.tr("break here")
        link = Link(lambda: self._workspace.theme, words, "inspector.source.break")
        link.setToolTip(plain(self.tr("Stop before what this line asks for, in each run")))
        link.clicked.connect(lambda: commands.toggle_line_breakpoint(self._workspace, line))
        return link

    def _lines(self, text: str, number: int) -> LinePreview:
        """The line and those around it, the line marked."""
        lines = text.splitlines()
        first = max(number - 1 - AROUND, 0)
        while first < number - 1 and not lines[first].strip():
            first += 1  # a preview begins with no empty line
        shown = dedent("\n".join(lines[first : number + AROUND])) or " "
        view = LinePreview(self._workspace.theme, shown)
        view.setLineWrapMode(LinePreview.LineWrapMode.NoWrap)
        view.setAccessibleName(self.tr("Source around line {}").format(number))
        view.mark(number - first)
        return view
