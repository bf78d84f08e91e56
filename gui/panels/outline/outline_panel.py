"""The outline: every operation by its role, in step with the selection."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

from gradstep.core.graph.changes import are_related
from gradstep.core.graph.model import Graph
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.outline.outline_rows import Outline
from gradstep.gui.panels.widgets.panel_base import Panel, search_row
from gradstep.gui.panels.widgets.row_list import Row
from gradstep.gui.panels.widgets.row_view import RowTree

SOON = 20  # milliseconds after an edit: the canvas is painted first
MANY = 20_000  # operations of a document, which is seen on the canvas before its rows are there
_NOTHING: tuple[object, ...] = (None,) * 4  # is shown


class OutlinePanel(Panel):
    """Inputs, variables, network, loss, gradients and updates; Ctrl+F filters."""

    title = "Outline"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "outline")
        self.filter = QLineEdit()
        self.filter.setObjectName("outline.filter")
        self.filter.setAccessibleName(self.tr("Filter the outline"))
        self.filter.setPlaceholderText(self.tr("Filter by name or type"))
        self.filter.setClearButtonEnabled(True)
        self.tree = RowTree(lambda: workspace.theme)
        self.tree.setObjectName("outline.tree")
        self.tree.setAccessibleName(self.title)
        self.tree.rows.describe = lambda name: name and (workspace.step_text(name) or name)
        self.column.setContentsMargins(0, GRID, 0, 0)
        self.column.setSpacing(GRID)
        self.column.addLayout(search_row(self.filter))
        self.column.addWidget(self.tree, 1)
        self._outline = Outline()
        self._asked: object = None  # what the rows were made of
        self._shown = _NOTHING
        self._begins = False  # with a large document, of which nothing is shown yet
        self._soon = QTimer(self, singleShot=True, interval=SOON)
        self._soon.timeout.connect(self.rebuild)
        self._connect()
        self._begin()

    def _connect(self) -> None:
        space = self.workspace
        self.follow(self._begin, space.document_opened)
        changed = space.document_changed, space.program_changed
        self.follow(self._soon.start, *changed, shown=self._show_again)
        self.follow(self._follow_selection, space.selection_changed)
        self.filter.textChanged.connect(self._soon.start)
        self.tree.chosen.connect(self.workspace.select)
        self.tree.entered.connect(self._prepare_tip)
        self.tree.activated_row.connect(self._frame)

    def event(self, event: QEvent) -> bool:
        """In this panel Ctrl+F is the filter's, whatever it is elsewhere in the window."""
        if event.type() is QEvent.Type.ShortcutOverride and _is_find(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_find(event):
            self.focus_filter()
        else:
            super().keyPressEvent(event)

    def focus_filter(self) -> None:
        """Put the cursor into the filter, its text selected."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def rebuild(self) -> None:
        """Show the document as it is now."""
        self._begins = False
        if not len(self.workspace.document.graph):
            self.show_empty(
                self.tr(
                    "The operations of the network appear here, by role. "
                    "Open a file, or press Tab over the canvas to add the first one."
                )
            )
            return
        words, space = self.filter.text(), self.workspace
        document = space.document
        asked = document.request.of, document.request.wrt
        shown = (document.graph, document.optimizers, space.program, words)
        if asked != self._asked or any(a is not b for a, b in zip(shown, self._shown, strict=True)):
            self._asked, self._shown = asked, shown  # a move, a stop or a value changes no row
            known = space.document, space.inference, space.program, words, space.debugger.index
            rows = self._outline.rows(*known)
            self.tree.set_rows(rows, forced_open=bool(words))
            if list(space.selection) != self.tree.selected_names():
                self.tree.select_names(space.selection)
        self.show_content()

    def _begin(self) -> None:
        """With another document, of whose rows none is shown from here on."""
        if len(self.workspace.document.graph) <= MANY:
            self.rebuild()
            return
        self.tree.set_rows(())
        self._shown, self._begins = _NOTHING, True
        self.show_content()
        self._soon.start()

    def _show_again(self) -> None:
        """It is looked at again, perhaps before it heard that another document was opened."""
        shown = self._shown[0]
        if isinstance(shown, Graph) and are_related(shown, self.workspace.document.graph):
            self.rebuild()
        elif not self._begins:
            self._begin()

    def _follow_selection(self) -> None:
        if list(self.workspace.selection) != self.tree.selected_names():
            self.tree.select_names(self.workspace.selection, reveal=True)

    def _prepare_tip(self, index: QModelIndex) -> None:
        """The mouse came to a row: its words are to be here by the time that the tool tip shows."""
        row = self.tree.rows.row_at(index)
        if row is not None and row.name:
            self.workspace.step_text(row.name)

    def _frame(self, row: Row) -> None:
        commands.reveal(self.workspace, row.name)


def _is_find(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Find)
