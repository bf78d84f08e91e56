"""The verdict on a node's gradient: the red card, and the table that proves it."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gradstep.core.protocol.messages import FindSmallest, NodeCheck
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.gradients.gradient_check_table import GradientModel
from gradstep.gui.panels.inspector.gradient_menu import gradient_in_force
from gradstep.gui.panels.widgets.card import Card
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT, FlatTable

_MOST_ROWS = 8


class OverrideCheck(QWidget):
    """Shows only where a check found that the gradient in force is not the node's gradient."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.check")
        self._workspace = workspace
        theme = lambda: workspace.theme  # noqa: E731
        self.card = Card(theme, "inspector.card")
        self.model = GradientModel()
        self.table = FlatTable(
            theme, self.model, "inspector.check.table", (64, 72, 72, 72, 24), stretch=0, margin=4
        )
        self.table.setAccessibleName(self.tr("Native, overridden and numeric gradients"))
        self.table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.card)
        column.addWidget(self.table)

    def show_node(self, name: str) -> None:
        """Show what the last check says of this node."""
        table = self._workspace.table
        nodes = table.nodes if table is not None else []
        wrong = next((node for node in nodes if node.node == name and not node.agrees), None)
        self.setVisible(wrong is not None)
        if wrong is None or table is None:
            return
        self._say(wrong)
        self.model.show(table.rows[:_MOST_ROWS])
        self.table.setVisible(bool(table.rows))
        self.table.setColumnHidden(2, not self.model.overridden)
        self.table.setFixedHeight((len(self.model.rows) + 1) * ROW_HEIGHT + 2)

    def _say(self, check: NodeCheck) -> None:
        title = self.tr("This gradient is not that of {}.")
        links = [(self.tr("Show the check"), "inspector.card.show", self._show_check)]
        if self._is_overridden(check.node):
            title = self.tr("This override is not the gradient of {}.")
            native = self.tr("Use the native gradient")
            use = lambda: self._use_native(check.node)  # noqa: E731
            links.insert(0, (native, "inspector.card.native", use))
        small = partial(commands.ask_smallest, self._workspace, FindSmallest(node=check.node))
        links.append((self.tr(commands.SMALLEST), "inspector.card.smallest", small))
        self.card.say(title.format(check.node), check.text, links)

    def _is_overridden(self, name: str) -> bool:
        document, graph = self._workspace.document, self._workspace.shown
        return name in graph and gradient_in_force(document, graph[name])[1]

    def _use_native(self, name: str) -> None:
        commands.use_native_gradient(self._workspace, name)

    def _show_check(self) -> None:
        self._workspace.ask_window("show", "gradients")
