"""The top of the sweep panel: begin, open, stop, and how far it is."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gradstep.gui import commands
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.sweep import Sweep
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.small_labels import Text


class SweepHead(QWidget):
    """Buttons, and a line of words."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace, self._sweep = workspace, workspace.sweep
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        self.start = self._button("start", self.tr("Sweep…"), self._start_or_stop)
        self.open = self._button("open", self.tr("Open folder…"), self._open)
        self.go_on = self._button("go_on", self.tr("Go on"), lambda: commands.go_on(workspace))
        self.show_run = self._button("show_run", self.tr("Debug run"), self._show_run)
        self.show_run.setToolTip(
            self.tr("Open the document with this run's settings, trained to the run's end")
        )
        self.said = Text(lambda: workspace.theme, "muted")
        self.said.setObjectName("sweep.said")
        for button in (self.start, self.open, self.go_on, self.show_run):
            row.addWidget(button)
        row.addWidget(self.said, 1)
        self.run = 0  # the one that Debug run opens; 0 for none

    def refresh(self, run: int) -> None:
        """Say everything anew. run: the one that is selected; 0 for none."""
        sweep, self.run = self._sweep, run
        self.start.setText(self.tr("Stop") if sweep.busy else self.tr("Sweep…"))
        self.start.setAccessibleName(self.start.text())
        ready = self._workspace.is_open and self._workspace.program is not None
        self.start.setEnabled(not sweep.is_stopping if sweep.busy else ready)
        self.open.setEnabled(not sweep.busy)
        unfinished = sweep.seen is not None and not sweep.seen.is_whole
        self.go_on.setVisible(unfinished and not sweep.busy)
        self.show_run.setEnabled(bool(run))
        self.said.set_text(*sweep_words(sweep))

    def _button(self, name: str, title: str, run: object) -> QPushButton:
        button = QPushButton(title)
        button.setObjectName(f"sweep.{name}")
        button.setAccessibleName(title)
        button.clicked.connect(run)
        return button

    def _start_or_stop(self) -> None:
        if self._sweep.busy:
            self._sweep.stop()
        else:
            commands.ask_sweep(self._workspace)

    def _open(self) -> None:
        commands.open_sweep(self._workspace, self)

    def _show_run(self) -> None:
        commands.debug_run(self._workspace, self.run)


def sweep_words(sweep: Sweep) -> tuple[str, Tone]:
    """What to say of it, and its tone."""
    if sweep.failure:
        return sweep.failure, "problem"
    if sweep.seen is None:
        return ("Starting…" if sweep.busy else ""), "muted"
    seen, best = sweep.seen, sweep.seen.best
    failed = sum(row.error is not None for row in seen.rows)
    said = [f"{len(seen.rows):,} of {count_of(len(seen.record.runs), 'run')}"]
    if sweep.busy:
        said.append("stopping…" if sweep.is_stopping else f"{len(seen.running)} running")
    said += [f"{failed} failed"] if failed else []
    said += [f"best {best.shown_loss:.6g} (run {best.number})"] if best is not None else []
    return " · ".join(said), "muted"
