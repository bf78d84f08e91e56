"""The watches panel: expressions whose values are shown wherever the debugger stops."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit

from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.graph.model import Graph
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Message, Watch, Watched
from gradstep.gui import commands
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.watches.watch_model import EXPRESSION, WatchModel
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.name_completion import complete
from gradstep.gui.panels.widgets.panel_base import Panel, add_and_delete
from gradstep.gui.panels.widgets.small_labels import Wrapped

RUNS = 60  # that are looked back
_WIDTHS = (280, 220, 220)  # pixels, of the columns


class WatchesPanel(Panel):
    """What is typed is watched; a click on a row shows the first tensor that it names; a double
    click edits it, Delete removes it."""

    title = "Watches"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "watches")
        self.model = WatchModel(lambda place, text: commands.set_watch(workspace, place, text))
        self.table = FlatTable(
            lambda: workspace.theme, self.model, "watches.table", _WIDTHS, EXPRESSION
        )
        self.table.setAccessibleName(self.title)
        self.table.chosen.connect(self._show_tensor)
        self.column.addLayout(self._head())
        self.column.addWidget(self.table, 1)
        self.nothing = Wrapped(lambda: self.theme, "watches.nothing", "muted")
        self.nothing.setText(
            self.tr(
                'Type the name of a tensor, or an expression such as norm(grad["w"]) or '
                'x["loss"] > 1. Its value is shown here wherever the debugger stops.'
            )
        )
        self.nothing.setContentsMargins(12, GRID, 12, GRID)
        self.column.addWidget(self.nothing, 1)
        delete = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.remove_current)
        self._answers = PendingAnswers(workspace)
        self._completed: Graph | None = None  # whose names are offered
        space = workspace
        self.follow(self.refresh, space.document_changed)
        self.follow(self._ask, space.program_changed, space.stopped)
        self.follow(self._offer, space.selection_changed)
        self.refresh()

    def _head(self) -> QHBoxLayout:
        row, self.add, self.delete = add_and_delete(
            self, self.tr("Watch something of the selection"), self.tr("Delete the watch")
        )
        self.delete.clicked.connect(self.remove_current)
        self.field = QLineEdit()
        self.field.setObjectName("watches.expression")
        self.field.setAccessibleName(self.tr("Expression to watch"))
        self.field.setPlaceholderText(self.tr("Watch a tensor or an expression"))
        self.field.setFont(mono(12))
        self.field.returnPressed.connect(self._add_typed)
        self.field.textEdited.connect(self._complete)
        row.insertWidget(0, self.field, 1)
        row.setStretch(row.count() - 1, 0)  # the field takes the room
        return row

    def refresh(self, *_: object) -> None:
        """Show the document's watches. What they are is asked where they are others; after an edit
        that is run by once the engine has taken it, and not for the sake of this panel."""
        watches = self.workspace.document.watches
        are_others = self.model.texts != watches
        if are_others:
            row = self.table.currentIndex().row()
            self.model.show_texts(watches)
            self.table.selectRow(min(row, len(watches) - 1))
        self._offer()
        self.table.setVisible(bool(watches))
        self.nothing.setVisible(not watches)
        if watches or len(self.workspace.shown):
            self.show_content()
        else:
            self.show_empty(self.tr("Values to be kept an eye on appear here."))
        if are_others:
            self._ask()

    def remove_current(self) -> None:
        """Delete the watch in the current row."""
        row = self.table.currentIndex().row()
        if 0 <= row < self.model.count():
            commands.remove_watch(self.workspace, row)

    def _ask(self, *_: object) -> None:
        self._answers.forget()
        space, texts = self.workspace, [*self.model.texts]
        if not texts or space.stop is None:
            self.model.show_rows([])
            return

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, Watched):
                self.model.show_rows(reply.rows)

        self._answers.ask(Watch(texts=texts, most=RUNS), answered)

    def _add_typed(self) -> None:
        text = self.field.text().strip()
        if text and commands.add_watch(self.workspace, text):
            self.field.clear()

    def _complete(self) -> None:
        """Offer the names that there are, once somebody types."""
        if self._completed is not self.workspace.shown:
            self._completed = self.workspace.shown
            complete(self.field, (op.name for op in self._completed))

    def _offer(self) -> None:
        """Fill the menu of "Add" with what fits the selection."""
        menu = self.add.menu()
        menu.clear()
        for text in self._suggestions():
            row = add_row(menu, text)
            row.triggered.connect(partial(self._add, text))
        self.add.setEnabled(not menu.isEmpty())
        self.delete.setEnabled(bool(self.model.count()))

    def _suggestions(self) -> list[str]:
        graph = self.workspace.shown
        chosen = [name for name in self.workspace.selection if name in graph][:1]
        return [
            text
            for name in chosen
            for text in (f'x["{name}:0"]', f'grad["{name}:0"]', f'norm(grad["{name}:0"])')
        ]

    def _add(self, text: str, *_: object) -> None:
        commands.add_watch(self.workspace, text)

    def _show_tensor(self, row: int) -> None:
        names = [ref.op for _, ref in find_mentions(self.model.texts[row])]
        for name in [name for name in names if name in self.workspace.shown][:1]:
            commands.reveal(self.workspace, name)
