"""The precision panel: the error of a shorter number format, what makes it, and what helps."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSplitter

from gradstep.core.graph.model import TensorRef
from gradstep.core.number_format_names import NUMBER_FORMATS, FormatName
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import ExaminePrecision, Failed, Message, PrecisionExamined
from gradstep.gui import commands
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.precision.share_table import WIDTHS, ShareTable
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.sentence_pane import Said, SentencePane
from gradstep.gui.panels.widgets.small_labels import Link, Text

UPDATES = 50  # of the training that is offered
_SIDE = 320  # pixels, of the sentences at first


class PrecisionPanel(Panel):
    """A click on a row selects its operation."""

    title = "Precision"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "precision")
        self.model = ShareTable()
        self._found: PrecisionExamined | None = None
        self._answers = PendingAnswers(workspace)
        self.table = FlatTable(
            lambda: workspace.theme, self.model, "precision.table", WIDTHS, len(WIDTHS) - 1
        )
        self.table.setAccessibleName(self.tr("What makes the error, operation by operation"))
        self.verdict = SentencePane(lambda: workspace.theme, "precision")
        self.column.addLayout(self._head())
        self.column.addWidget(self._body(), 1)
        self.table.chosen.connect(self._select)
        self.follow(self._forget, workspace.program_changed)
        self._forget()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        self.examine = QPushButton(self.tr("Try"))
        self.examine.setObjectName("precision.try")
        self.examine.setAccessibleName(self.tr("Try the number format"))
        self.examine.clicked.connect(self._ask)
        self.formats = self._choice("formats", self.tr("Number format"))
        self.formats.addItems(NUMBER_FORMATS)
        self.targets = self._choice("targets", self.tr("Whose error"))
        self.trains = Check(
            lambda: self.theme, self.tr("train {} updates").format(UPDATES), "precision.train"
        )
        tip = self.tr("Beside each other: in float32, in the format, and with what is proposed")
        self.trains.setToolTip(plain(tip))
        self.summary = Text(lambda: self.theme, "muted")
        self.kept = Link(lambda: self.theme, "", "precision.kept")
        self.kept.setToolTip(plain(self.tr("Select what has to stay in float32")))
        self.kept.clicked.connect(self._select_kept)
        for part in (self.examine, self.formats, self.targets, self.trains):
            row.addWidget(part)
        row.addWidget(self.summary, 1)
        row.addWidget(self.kept)
        return row

    def _choice(self, name: str, words: str) -> QComboBox:
        box = QComboBox()
        box.setObjectName(f"precision.{name}")
        box.setAccessibleName(words)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        return box

    def _body(self) -> QSplitter:
        body = QSplitter(Qt.Orientation.Horizontal)
        body.setObjectName("precision.body")
        body.setChildrenCollapsible(False)
        body.setHandleWidth(1)
        body.addWidget(scroll_area(self.verdict))
        body.addWidget(self.table)
        body.setStretchFactor(1, 1)
        body.setSizes([_SIDE, 2 * _SIDE])
        return body

    def _forget(self, *_: object) -> None:
        """Another program: what was found is of the one before."""
        self._found = None
        self._answers.forget()
        self._offer_targets()
        self.refresh()

    def _offer_targets(self) -> None:
        """What is differentiated and fetched, and the gradients that were asked for; the chosen
        one stays."""
        request, chosen = self.workspace.document.request, self.targets.currentText()
        refs = [*request.of, *self.workspace.document.fetches]
        names = [ref.short for ref in refs]
        names += [f'grad["{ref.short}"]' for ref in request.wrt if self._has_gradient(ref)]
        self.targets.clear()
        self.targets.addItems([*dict.fromkeys(names)])
        self.targets.setCurrentIndex(max(0, self.targets.findText(chosen)))

    def _has_gradient(self, ref: TensorRef) -> bool:
        program = self.workspace.program
        return program is not None and str(ref) in program.gradients

    def _ask(self) -> None:
        steps = UPDATES if self.trains.isChecked() and self.trains.isEnabled() else 0
        format_ = cast("FormatName", self.formats.currentText())
        wish = ExaminePrecision(format=format_, target=self.targets.currentText(), steps=steps)
        self._answers.ask_alone(wish, self._take)
        self.refresh()

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, PrecisionExamined):
            self._found = reply
        elif isinstance(reply, Failed):
            self.workspace.complain(reply.error)
        self.refresh()

    def refresh(self) -> None:
        """Show what was found, or what would be."""
        found, program = self._found, self.workspace.program
        if not len(self.workspace.document.graph):
            self.show_empty(
                self.tr(
                    "What a shorter number format does to a result, and which operations make its "
                    "error, appears here. Open a document first."
                )
            )
            return
        self.examine.setEnabled(program is not None and self.targets.count() > 0)
        self.trains.setEnabled(bool(self.workspace.document.optimizers))
        self.summary.set_text(self.tr("trying…") if self._answers.is_awaited else "")
        self.model.show([] if found is None else found.rows)
        self.table.setVisible(self.model.count() > 0)
        count = 0 if found is None else len(found.kept)
        self.kept.setText(self.tr("{} stay in float32").format(count))
        self.kept.setVisible(count > 0)
        self.verdict.say(self._said())
        self.show_content()

    def _said(self) -> list[Said]:
        if self._found is None:
            text = self.tr(
                "Try puts operation after operation into the format, and shows by how much each "
                "moves the result, the fewest that have to stay in float32, and gradients that "
                "float16 has no room for."
            )
            return [("", "", [(text, "muted")])]
        first, *rest = self._found.sentences
        return [(self._found.format, "", [(first, "text"), *((text, "muted") for text in rest)])]

    def _select(self, row: int) -> None:
        commands.reveal(self.workspace, self.model.rows[row].ops[0])

    def _select_kept(self) -> None:
        if self._found is not None:
            graph = self.workspace.shown
            self.workspace.select(name for name in self._found.kept if name in graph)
