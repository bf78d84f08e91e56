"""The gradients panel: native, overridden, numeric, and which one the numbers support."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from gradstep.core.document.loss_insertion import LossChoice, loss_choices
from gradstep.core.document.requests import every_request
from gradstep.core.protocol.messages import NodeCheck
from gradstep.gui import commands
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.gradients.bad_gradients import BadGradients
from gradstep.gui.panels.gradients.gradient_check_table import GradientModel
from gradstep.gui.panels.gradients.gradient_values import GradientValues, gradient_values
from gradstep.gui.panels.gradients.variant_view import VariantView
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Link, Wrapped


class GradientsPanel(Panel):
    """Every gradient asked for, and once they are checked every element of them; a click selects
    what it belongs to."""

    title = "Gradients"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "gradients")
        self.model = GradientModel()
        self.table = FlatTable(
            lambda: workspace.theme, self.model, "gradients.table", (88, 72, 72, 72, 32), 0
        )
        self.table.setAccessibleName(self.title)
        self.held = GradientValues(workspace)
        self.values = gradient_values(workspace, self.held)
        self.bad = BadGradients(workspace)
        self.column.addLayout(self._head())
        self.column.addLayout(self._verdicts())
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.values, 1)
        self.column.addWidget(self.bad)
        self.column.addStretch(0)
        self.variants: VariantView | None = None  # made when it is asked for
        self.table.chosen.connect(self._select)
        self.follow(
            self.refresh,
            workspace.table_changed,
            workspace.program_changed,
            workspace.document_changed,
        )
        self.follow(self.held.changed, workspace.stopped, workspace.values_changed)
        self.follow(self._refresh_bad, workspace.values_changed)
        variants = workspace.variants
        self.follow(self._refresh_variants, variants.changed, variants.stale)
        self.refresh()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, GRID, 12, GRID)
        self.check = QPushButton(self.tr("Check gradients"))
        self.check.setObjectName("gradients.check")
        self.check.setAccessibleName(self.tr("Check gradients against finite differences"))
        self.check.clicked.connect(lambda: commands.check_gradients(self.workspace))
        row.addWidget(self.check)
        row.addStretch(1)
        self.what_if = Check(lambda: self.theme, self.tr("What if"), "gradients.what_if")
        words = self.tr("Native, as it stands, numeric and straight-through side by side")
        self.what_if.setToolTip(plain(words))
        self.what_if.toggled.connect(self.refresh)
        row.addWidget(self.what_if)
        return row

    def _verdicts(self) -> QVBoxLayout:
        self.verdicts = QVBoxLayout()
        self.verdicts.setContentsMargins(12, 0, 12, GRID)
        self.verdicts.setSpacing(GRID // 2)
        self.sentence = Wrapped(lambda: self.theme, "gradients.sentence")
        self.verdicts.addWidget(self.sentence)
        return self.verdicts

    def refresh(self, *_: object) -> None:
        """Show the table of the last check, or how to make one."""
        space, table = self.workspace, self.workspace.table
        asked = bool(every_request(space.document))
        choices = [] if asked else loss_choices(space.document, space.inference.types)
        self.check.setVisible(not choices)
        if choices:
            self._offer(choices)
            return
        if not asked:
            self.show_empty(
                self.tr(
                    "Gradients appear here: native, overridden and numeric side by side. "
                    "Graph > Differentiate says of what and with respect to what."
                )
            )
            return
        self.what_if.setVisible(True)
        if self.what_if.isChecked():
            self._show_variants()
            return
        self._hide_variants()
        self.model.show(table.rows if table is not None else ())
        hint = self.tr("Compares every gradient with finite differences in float64.")
        self.sentence.setText((table.text if table is not None else "") or hint)
        self.table.setVisible(bool(self.model.rows))
        self.table.setColumnHidden(2, not self.model.overridden)
        self._list_nodes([n for n in table.nodes if n.verdict != "ok"] if table is not None else [])
        self.held.refresh()
        self.values.setVisible(not self.model.rows and bool(self.held.refs))
        self.bad.refresh()
        rows, values = bool(self.model.rows), self.values.isVisibleTo(self)
        self._let_stretch(rows, values, not (rows or values))
        self.show_content()

    def _show_variants(self) -> None:
        """In the place of all else."""
        if self.variants is None:
            self.variants = VariantView(self.workspace)
            self.column.addWidget(self.variants, 1)
        self._drop_links()
        for part in (self.sentence, self.table, self.values, self.bad):
            part.hide()
        self._let_stretch(False, False, False)
        self.variants.refresh()
        self.variants.show()
        self.show_content()

    def _hide_variants(self) -> None:
        self.sentence.show()
        if self.variants is not None:
            self.variants.hide()

    def _refresh_variants(self) -> None:
        if self.variants is not None and self.variants.isVisibleTo(self):
            self.variants.refresh()

    def _refresh_bad(self) -> None:
        if not self.what_if.isChecked():
            self.bad.refresh_if_changed()

    def _offer(self, choices: list[LossChoice]) -> None:
        """The losses that fit a network that came without one."""
        words = self.tr("Nothing is differentiated yet. Add a loss of {}, and its gradients:")
        self.sentence.setText(words.format(choices[0].of.short))
        self._drop_links()
        for choice in choices:
            link = Link(lambda: self.theme, choice.words, f"gradients.loss.{choice.block}")
            link.clicked.connect(lambda _=False, it=choice: commands.add_loss(self.workspace, it))
            self.verdicts.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        self.what_if.hide()
        self._hide_variants()
        for part in (self.table, self.values, self.bad):
            part.hide()
        self._let_stretch(False, False, True)
        self.show_content()

    def _let_stretch(self, table: bool, values: bool, rest: bool) -> None:
        """Which of them takes what height there is."""
        for place, stretch in zip((2, 3, 5), (table, values, rest), strict=True):
            self.column.setStretch(place, int(stretch))

    def _drop_links(self) -> None:
        while self.verdicts.count() > 1:
            item = self.verdicts.takeAt(1)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def _list_nodes(self, doubtful: list[NodeCheck]) -> None:
        """A link to each node whose gradient is wrong, or worth a second look."""
        self._drop_links()
        for node in doubtful:
            link = Link(lambda: self.theme, self._remark(node), f"gradients.node.{node.node}")
            link.setToolTip(plain(node.text))
            link.clicked.connect(
                lambda _=False, name=node.node: commands.reveal(self.workspace, name)
            )
            self.verdicts.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)

    def _remark(self, node: NodeCheck) -> str:
        if not node.agrees:
            return self.tr("{} at {} is not its gradient").format(node.gradient, node.node)
        doubt = next(t for t in node.tensors if t.verdict == node.verdict)
        return self.tr("{} at {}: {}").format(node.gradient, node.node, doubt.text)

    def _select(self, row: int) -> None:
        name = self.model.rows[row].name.partition(":")[0]
        if name in self.workspace.shown:
            commands.reveal(self.workspace, name)
