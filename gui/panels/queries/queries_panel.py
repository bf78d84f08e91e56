"""The queries panel: at which step of which run something was so; a click goes there."""

from __future__ import annotations

import re
from functools import partial

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QPushButton, QSizePolicy

from gradstep.core.debug.breaks.expression_names import written_by_name
from gradstep.core.debug.breaks.ready_conditions import READY
from gradstep.core.graph.model import Graph
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.protocol.stopped_position import position_of
from gradstep.core.protocol.vocabulary import WhichMoment
from gradstep.gui import commands
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import add_row, plain, without_mnemonic
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.run_query import RunQuery
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.queries.answer_model import AnswerModel
from gradstep.gui.panels.widgets.breaking_row import BreakingRow
from gradstep.gui.panels.widgets.expression_field import ExpressionField
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.progress_line import ProgressLine
from gradstep.gui.panels.widgets.small_labels import Text, Wrapped

_WIDTHS = (56, 80, 72, 240, 220, 88, 200)  # pixels, of the columns
_NODE = 3
WHICH: tuple[tuple[WhichMoment, str], ...] = (
    ("first", "First step where"),
    ("every", "Every step where"),
    ("next", "Next step where"),
    ("previous", "Step before where"),
    ("last", "Last up to here where"),
)
_TABLE = {"value": "x", "grad": "grad"}
_SHORT = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_NARROW = 640  # pixels; below, the line is broken in two
_SLOW = 0.1  # seconds; what took less needs no word


class QueriesPanel(Panel):
    """Enter asks; a click on an answer, or Enter, stands right behind that step."""

    title = "Queries"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "queries")
        self.query = workspace.queries
        self.model = AnswerModel()
        self.table = FlatTable(lambda: workspace.theme, self.model, "queries.table", _WIDTHS, _NODE)
        self.table.setAccessibleName(self.tr("Steps at which it holds"))
        self.table.chosen.connect(self._go)
        self.said = Text(lambda: self.theme, "muted")
        self.said.setObjectName("queries.said")
        self.bar = ProgressLine(lambda: self.theme)
        self.hint = Wrapped(lambda: self.theme, "queries.hint", "muted")
        self.hint.setText(
            self.tr(
                'Ask all runs: norm(grad["w"]) > 10 * previous(norm(grad["w"])), x["loss"] > 3, '
                "isnan(value) for whatever a step gives. It is asked behind each step that gives a "
                "value to something it names, in loops too; a click on an answer goes there."
            )
        )
        self.hint.setContentsMargins(12, GRID, 12, GRID)
        self.column.addWidget(self._head())
        self.column.addWidget(self.bar)
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.hint, 1)
        self._completed: Graph | None = None  # whose names are offered
        self.follow(self.refresh, self.query.changed, workspace.document_changed)
        self.follow(self._mark_here, workspace.stopped)
        self.refresh()

    def _head(self) -> BreakingRow:
        head, asking, saying = BreakingRow(_NARROW), QHBoxLayout(), QHBoxLayout()
        self.which = QComboBox()
        self.which.setSizeAdjustPolicy(_SHORT)
        self.which.setMinimumContentsLength(12)
        self.which.setObjectName("queries.which")
        self.which.setAccessibleName(self.tr("Which steps"))
        for which, words in WHICH:
            self.which.addItem(words, which)
        self.field = ExpressionField()
        self.typed_into = self.field
        self.field.setObjectName("queries.expression")
        self.field.setAccessibleName(self.tr("Expression to ask all runs about"))
        self.field.setPlaceholderText(self.tr('isnan(value), x["loss"] > 3, …'))
        self.field.returnPressed.connect(self.ask)
        self.field.textEdited.connect(self._complete)
        often = self.tr("Questions that are asked often")
        self.ready = self._button("ready", self.tr("Ready"), often)
        self.ready.setMenu(QMenu(self.ready))
        self.ready.menu().aboutToShow.connect(self._fill_ready)
        self.go = self._button("ask", self.tr("Ask"), self.tr("Ask all runs"))
        self.go.clicked.connect(self._ask_or_cancel)
        asking.addWidget(self.which)
        asking.addWidget(self.field, 1)
        for widget in (self.ready, self.go, self.said):
            saying.addWidget(widget)
        head.rows.addLayout(asking, 3)
        head.rows.addLayout(saying, 2)
        head.setLayout(head.rows)
        head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        return head

    def _button(self, name: str, text: str, words: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"queries.{name}")
        button.setAccessibleName(words)
        return button

    def refresh(self, *_: object) -> None:
        """Show what is asked and what was found."""
        query = self.query
        if query.text and query.text != self.field.text() and not self.field.hasFocus():
            self._put(query.text, query.which)
        if self.model.rows is not query.rows:
            self.model.show(query.rows)
            self._mark_here()
        self.bar.show_share(max(query.share, 0.02) if query.is_busy else 0.0)
        self.go.setText(self.tr("Cancel") if query.is_busy else self.tr("Ask"))
        self.said.set_text(*answer_words(query))
        self.table.setVisible(bool(query.rows))
        self.hint.setVisible(not query.rows)
        if len(self.workspace.shown):
            self.show_content()
        else:
            self.show_empty(self.tr("Runs can be asked here at which step something was so."))

    def ask(self) -> None:
        """Ask what is typed."""
        text = self.field.text().strip()
        if text:
            self.query.ask(text, self.which.currentData())

    def ask_for(self, text: str, which: WhichMoment) -> None:
        """The same of another expression, which is put in the field."""
        self._put(text, which)
        self.ask()

    def _put(self, text: str, which: str) -> None:
        self.field.setText(text)
        self.which.setCurrentIndex([one for one, _ in WHICH].index(which))  # type: ignore[arg-type]

    def _ask_or_cancel(self) -> None:
        self.query.cancel() if self.query.is_busy else self.ask()

    def _go(self, row: int) -> None:
        commands.go_to_moment(self.workspace, self.model.rows[row])

    def _mark_here(self, *_: object) -> None:
        self.model.show_here(position_of(self.workspace.stop))

    def _complete(self) -> None:
        """Offer the names that there are, once somebody types."""
        if self._completed is not self.workspace.shown:
            self._completed = self.workspace.shown
            self.field.offer(op.name for op in self._completed)

    def _fill_ready(self) -> None:
        """What fits what is selected, and what fits any step."""
        menu, graph = self.ready.menu(), self.workspace.shown
        menu.clear()
        for name in [name for name in self.workspace.selection if name in graph][:1]:
            if graph[name].type in VARIABLES:
                row = add_row(menu, self.tr("Who wrote {0} last").format(name))
                row.triggered.connect(partial(self._choose, written_by_name(name), "last"))
            title = self.tr("Of {0}").format(name)
            of = menu.addMenu(without_mnemonic(title))
            of.menuAction().setToolTip(plain(title))
            for ready in READY:
                row = add_row(of, ready.title)
                text = about_tensor(ready.text, name)
                row.triggered.connect(partial(self._choose, text, "first"))
            menu.addSeparator()
        for ready in READY:
            row = add_row(menu, ready.title)
            row.triggered.connect(partial(self._choose, ready.text, "first"))

    def _choose(self, text: str, which: WhichMoment, *_: object) -> None:
        self.ask_for(text, which)


def about_tensor(text: str, name: str) -> str:
    """A ready condition, said of one tensor in place of whatever a step gives."""
    return re.sub(r"\b(value|grad)\b", lambda m: f'{_TABLE[m[0]]}["{name}"]', text)


def answer_words(query: RunQuery) -> tuple[str, Tone]:
    """How it went, and its tone."""
    if query.is_busy:
        return "looking through runs…", "muted"
    if query.failure is not None:
        said = query.failure
        return ". ".join(filter(None, (said.message, said.hint))), "problem"
    found = query.found
    if found is None:
        return "", "muted"
    runs = count_of(found.runs, "run")
    words = [f"{count_of(found.count, 'step')} in {runs}" if found.count else f"nowhere in {runs}"]
    if len(found.rows) < found.count:
        words.append(f"the first {len(found.rows):,} are listed")
    if found.repeated:
        words.append(f"{found.repeated:,} made again")
    if found.lost:
        words.append(f"{count_of(found.lost, 'place')} in loops not kept any more")
    if query.seconds >= _SLOW:
        words.append(f"{query.seconds:.1f} s")
    return " · ".join(words), "text" if found.count else "muted"
