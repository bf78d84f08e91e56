"""The profile: where the time and the bytes of a run go, as a table, an icicle, and what ran."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget

from gradstep.gui import commands
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.cost_tree import Cost, total, tree
from gradstep.gui.model.profiler import Measured
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.profile.profile_head import ProfileHead, failure_words
from gradstep.gui.panels.profile.profile_icicle import Icicle
from gradstep.gui.panels.profile.profile_model import CostModel
from gradstep.gui.panels.profile.profile_passes import Passes
from gradstep.gui.panels.profile.profile_table import CostTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Wrapped

NARROW = 720  # pixels; below, table and icicle stand above each other
SHARES = (640, 480)  # of table and icicle in what room there is


class ProfilePanel(Panel):
    """A row or a tile selects its operation on the canvas; the canvas's selection is found here."""

    title = "Profile"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "profile")
        self.profiler = workspace.profiler
        self._shown: tuple[Measured | None, str, str] = (None, "", "")
        self.head = ProfileHead(workspace)
        self.model = CostModel()
        self.table = CostTable(lambda: self.theme, self.model)
        self.icicle = Icicle(lambda: self.theme)
        self.passes = Passes(lambda: self.theme)
        self.hint = Wrapped(lambda: self.theme, "profile.hint", "muted")
        self.hint.setContentsMargins(12, GRID, 12, GRID)
        self.body = QStackedWidget()
        self.pages = QStackedWidget()
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self._lay_out()
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        """What holds others comes to its place before they come to it: each place that it comes to
        later would have all of them dressed once more."""
        self.column.addWidget(self.head)
        self.column.addWidget(self.body, 1)
        self.body.addWidget(self.hint)
        self.body.addWidget(self.pages)
        self.pages.addWidget(self.split)
        self.pages.addWidget(self.passes)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.table)
        self.split.addWidget(self.icicle)
        self.split.setSizes(SHARES)

    def _connect(self) -> None:
        self.follow(self.refresh, self.profiler.changed)
        self.workspace.selection_changed.connect(self._follow_selection)
        self.head.grouped.connect(self.refresh)
        self.head.turned.connect(self.pages.setCurrentIndex)
        for part in (self.table, self.icicle):
            part.chosen.connect(self._select)
        self.table.opened.connect(self._show_on_canvas)
        self.passes.toggled.connect(self.profiler.leave_out)
        self.passes.kernels.toggled.connect(self.profiler.use_kernels)
        self.passes.chosen.connect(self._select_operation)

    # -- what is shown -------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        """Show the last profile of the chosen mode, or how to get one."""
        why_not = self._why_not()
        if why_not:
            self.show_empty(why_not)
            return
        self.head.refresh()
        measured = self.profiler.measured
        self.passes.show_passes(self.profiler.passes, self.profiler.without)
        self.body.setCurrentIndex(1 if measured is not None else 0)
        if measured is None:
            self.hint.setText(self._how())
        else:
            self._show_costs(measured)
        self.show_content()

    def _show_costs(self, measured: Measured) -> None:
        if not self.is_seen:
            return  # it is made when it is looked at
        by, grouping = self.profiler.by, self.head.grouping.currentData()
        if self._shown != (measured, by, grouping):
            self._shown = (measured, by, grouping)
            self.table.show_costs(tree(measured.leaves, grouping), by)
            self.icicle.show_costs(total("", tree(measured.leaves, "icicle")), by)
            self._follow_selection()
        self.model.fade(self.profiler.is_stale)
        self.icicle.fade(self.profiler.is_stale)

    def _why_not(self) -> str:
        """Why nothing can be measured here; "" when it can."""
        space = self.workspace
        if not len(space.document.graph):
            return self.tr(
                "Where the time and the bytes of a run go appears here: by operation, scope and "
                "phase. Open a document first."
            )
        program = space.program
        if program is not None and not program.measured:
            return self.tr(
                "{} is emulated here, on NumPy: how long that takes says nothing about the "
                "device, so there is no profile. Devices > Run on chooses a device that is "
                "measured."
            ).format(device_words(program.device))
        return ""

    def _how(self) -> str:
        if self.workspace.program is None:
            return self.tr("There is nothing to measure before the engine has taken the document.")
        if self.profiler.failure is not None:
            why = failure_words(self.profiler.failure)
            return self.tr("The run could not be measured: {}").format(why)
        return self.tr(
            "Measure runs the document on copies of its variables, and shows where the time and "
            "the bytes go: by operation, scope and phase. Recorded runs are those of the debugger; "
            "fast runs are rewritten by passes, which “What ran” shows."
        )

    def _follow_selection(self) -> None:
        chosen = self.workspace.selection
        self.icicle.show_names(frozenset(chosen))
        if len(chosen) == 1:
            self.table.show_name(chosen[0])

    # -- the user ------------------------------------------------------------------------------

    def _select(self, cost: Cost) -> None:
        """Select what a row or a tile stands for, unless that is everything."""
        graph = self.workspace.shown
        names = [name for name in cost.names if name in graph]
        if names and len(names) < len(graph):
            self.workspace.select(names)

    def _show_on_canvas(self, cost: Cost) -> None:
        names = [name for name in cost.names if name in self.workspace.shown]
        if len(names) == 1:
            commands.reveal(self.workspace, *names)
        else:
            self._select(cost)
            self.workspace.ask_window("fit_selection")

    def _select_operation(self, name: str) -> None:
        measured = self.profiler.measured
        origin = measured.origins.get(name, name) if measured is not None else name
        if origin in self.workspace.shown:
            commands.reveal(self.workspace, origin)

    def seen(self) -> None:
        super().seen()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across = self.width() >= NARROW
        way = Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical
        for split in (self.split, self.passes):
            split.setOrientation(way)
