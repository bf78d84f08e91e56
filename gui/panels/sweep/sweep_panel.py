"""The sweep panel: its runs, what came of each, and how settings and losses go together."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter

from gradstep.gui import commands
from gradstep.gui.model.sweep import Sweep
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.sweep.parallel_plot import ParallelPlot
from gradstep.gui.panels.sweep.run_curves import RunCurves
from gradstep.gui.panels.sweep.run_table import RunTable
from gradstep.gui.panels.sweep.sweep_head import SweepHead
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Wrapped

_SHARES = (8, 5, 4)  # of the width: table, coordinates, curves


class SweepPanel(Panel):
    """A run that is selected is drawn; one that is opened is trained to its end in the debugger."""

    title = "Sweep"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "sweep")
        self.sweep: Sweep = workspace.sweep
        self.head = SweepHead(workspace)
        self.table = RunTable(lambda: self.theme)
        self.parallel = ParallelPlot(lambda: self.theme)
        self.curves = RunCurves(lambda: self.theme)
        self.hint = Wrapped(lambda: self.theme, "sweep.hint", "muted")
        self.hint.setContentsMargins(12, 8, 12, 8)
        self.parts = QSplitter(Qt.Orientation.Horizontal)
        self.parts.setHandleWidth(1)
        for number, part in enumerate((self.table, self.parallel, self.curves)):
            self.parts.addWidget(part)
            self.parts.setStretchFactor(number, _SHARES[number])
        self.parts.setSizes([100 * share for share in _SHARES])
        self.column.addWidget(self.head)
        self.column.addWidget(self.hint)
        self.column.addWidget(self.parts, 1)
        self._connect()
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Show what is known now."""
        seen = self.sweep.seen
        self.hint.setVisible(seen is None)
        self.hint.setText(self._how())
        self.parts.setVisible(seen is not None)
        if seen is not None:
            self.table.show_runs(seen)
            self._draw()
        self._refresh_head()
        self.show_content()

    def restyle(self) -> None:
        super().restyle()
        self.parallel.restyle()
        self.curves.restyle()

    def _connect(self) -> None:
        space = self.workspace
        self.follow(self.refresh, self.sweep.changed)
        self.follow(self._refresh_head, space.program_changed, space.document_opened)
        self.table.looked_at.connect(self._choose)
        self.parallel.pointed.connect(self.table.select_run)
        for part in (self.table, self.parallel):
            part.wanted.connect(lambda run: commands.debug_run(space, run))

    def _choose(self, runs: tuple[int, ...]) -> None:
        self.sweep.choose(runs)
        self._draw()
        self._refresh_head()

    def _draw(self) -> None:
        if self.sweep.seen is not None:
            self.parallel.show_runs(self.sweep.seen, self.table.selected)
            self.curves.show_runs(self.sweep.seen, self.table.selected)

    def _refresh_head(self, *_: object) -> None:
        over = {row.number for row in self.sweep.seen.rows} if self.sweep.seen else set()
        chosen = [run for run in self.table.selected if run in over]
        self.head.refresh(chosen[0] if len(chosen) == 1 else 0)

    def _how(self) -> str:
        if self.sweep.busy:
            return ""
        return self.tr(
            "A sweep trains the document with many settings and seeds, several runs at a time, and "
            "shows here what came of each. Sweep… begins one; Open folder… shows one that was "
            "made, here or by gradstep sweep --out."
        )
