"""The timeline: runs as bars, the steps of a run as a table, and the way to any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from gradstep.core.graph.scopes import parents
from gradstep.core.protocol.branch_queries import current_branch
from gradstep.core.protocol.messages import BranchInfo, ProgramInfo, Stopped
from gradstep.core.protocol.stopped_position import current_thread, position_of
from gradstep.gui import commands
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import GRID, SMALL, mono, sans
from gradstep.gui.model.standing_node import standing_node
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.timeline.branch_menu import BranchMenu
from gradstep.gui.panels.timeline.branch_tree import BranchTree
from gradstep.gui.panels.timeline.foreign_rows import ForeignRows
from gradstep.gui.panels.timeline.run_bars import RunBars
from gradstep.gui.panels.timeline.timeline_model import OPERATION, TEXT, VALUE, TimelineModel
from gradstep.gui.panels.timeline.timeline_rows import GroupRows, Rows, StepRows
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flat_header import HEIGHT
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT, FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Link

STEPS = HEIGHT + 4 * ROW_HEIGHT  # pixels of the table, before there are bars of other runs


class StepTable(FlatTable):
    """fetch_words: makes a call once the words of all rows are there."""

    fetch_words: Callable[[Callable[[], None]], None]

    def keyboardSearch(self, search: str) -> None:
        """Typing goes to the next row that begins so, in the column that was clicked; what happened
        is known only of the rows that were looked at."""
        find = partial(super().keyboardSearch, search)
        if self.currentIndex().column() == TEXT:
            self.fetch_words(find)
        else:
            find()


class TimelinePanel(Panel):
    """Click a bar, or double-click a row, to go there."""

    title = "Timeline"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "timeline")
        self.bars = RunBars(lambda: workspace.theme)
        self.branches = BranchTree(lambda: workspace.theme)
        self.model = TimelineModel(workspace.value, workspace.step_text)
        self.model.gradient = workspace.gradient
        self.table = StepTable(
            lambda: workspace.theme, self.model, "timeline.table", (56, 96, 248, 320, 216), TEXT
        )
        self.table.fetch_words = self._fetch_words
        self._widest = 0  # pixels of the longest operation's name
        self.table.setAccessibleName(self.tr("Steps"))
        text = self.tr("every operation")
        self.every = Check(lambda: workspace.theme, text, "timeline.every", sans(SMALL))
        self.loop = Label(objectName="timeline.loop", visible=False)
        self.loop.setContentsMargins(12, 0, 12, 0)
        self.unfold = Link(lambda: workspace.theme, self.tr("Open its box"), "timeline.unfold")
        self.unfold.hide()
        self._groups: Rows = StepRows(())  # of the program
        self._traced: ForeignRows | None = None  # what they are grouped by
        self._loop = ""  # whose steps the table shows; "" for the run's own
        self._reached: list[int] = [0]
        self._branches: list[BranchInfo] = []
        self._shown = workspace.sessions.current, ""
        self._stop: Stopped | None = None  # where the debugger stands, as it is shown
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 12, 0)
        top.setSpacing(GRID)
        top.addWidget(self.bars, 1)
        top.addWidget(self.every, 0, Qt.AlignmentFlag.AlignBottom)
        runs = QVBoxLayout()
        runs.setSpacing(0)
        runs.addLayout(top)
        inside = QHBoxLayout()
        inside.addWidget(self.loop)
        inside.addWidget(self.unfold)
        inside.addStretch(1)
        runs.addLayout(inside)
        runs.addWidget(self.table, 1)
        beside = QHBoxLayout()
        beside.setSpacing(0)
        beside.addLayout(runs, 1)
        beside.addWidget(self.branches, 0)
        self.column.addLayout(beside, 1)
        self._connect()
        self.show_program()

    def _connect(self) -> None:
        space = self.workspace
        self.follow(self.show_program, space.program_changed)
        self.follow(self._follow_stop, space.stopped)
        space.document_changed.connect(self._offer_box)
        self.follow(self.model.changed, space.values_changed)
        self.every.toggled.connect(self.show_program)
        self.table.chosen.connect(self._select)
        self.table.opened.connect(lambda row: self._go(self.model.rows[row].start))
        self.unfold.clicked.connect(self._unfold)
        self.bars.asked.connect(lambda run, step: commands.run_to(space, f"{run}:{step}"))
        self.branches.asked.connect(lambda name: commands.switch_branch(space, name))
        self.branches.menu_asked.connect(lambda name, at: BranchMenu(space, self, name).popup(at))
        self.bars.moved.connect(lambda d: space.control("step" if d > 0 else "step_back"))

    def show_program(self) -> None:
        """Another program: other steps, and nothing recorded of them."""
        program = self.workspace.program
        if program is None or not program.steps:
            self.show_empty(
                self.tr(
                    "The steps of each run appear here: forward, backward, update. "
                    "F10 makes the first step, F5 runs to the next breakpoint."
                )
            )
            return
        self._loop = ""
        index = self.workspace.debugger.index
        groups = self._groups = GroupRows(program, index, self._groups, self._foreign())
        self._show_rows(self._rows(program))
        self.bars.show_rows(groups, self._captions(program))
        self._reached = [0]
        self.show_content()
        self.show_position()

    def _foreign(self) -> ForeignRows:
        graph, known = self.workspace.document.graph, self._traced
        if known is None or known.graph is not graph:
            known = self._traced = ForeignRows(graph)
        return known

    def _captions(self, program: ProgramInfo) -> dict[str, str]:
        """What to write below a stretch of each phase; {} is the number of its operations."""
        own = [o.type for o in self.workspace.document.optimizers if o.enabled]
        types = dict.fromkeys(own or _rules(program))
        return {
            "forward": self.tr("forward {}"),
            "backward": self.tr("backward {}"),
            "update": f"update ({', '.join(types)})" if types else self.tr("update"),
        }

    def _follow_stop(self) -> None:
        if self.workspace.stop is not self._stop:  # else it was shown with its program
            self.show_position()

    def show_position(self) -> None:
        """The debugger stands somewhere else."""
        stop = self._stop = self.workspace.stop
        if stop is None or self.workspace.program is None:
            return
        self._note_reached(stop.runs, stop.run, stop.step)
        self._show_steps(stop)
        here = stop.inside[-1].step if stop.inside else stop.step
        error = stop.error.message if stop.error is not None else ""
        self.model.move_to(here, error, waits=stop.reason == "blocked")
        self.bars.show_position(stop.run, stop.step, self._reached, stop.batch, stop.first)
        self.bars.show_branches(stop.branches, current_thread(stop.threads))
        if stop.branches != self._branches:
            self._branches = stop.branches
            self.branches.show_branches(stop.branches)
            self._fit_columns()
        self._show_current()

    def _show_steps(self, stop: Stopped) -> None:
        """Those of a run in the table, or of the iteration that the debugger is in."""
        program, loop = self.workspace.program, stop.inside[-1].loop if stop.inside else ""
        self.loop.setVisible(bool(loop))
        if loop:
            words = self.tr("Steps of {}. Shift+F11 leaves the loop.")
            self.loop.setText(words.format(stop.inside[-1].text))
        self._offer_box()
        if program is None or loop == self._loop:
            return
        self._loop = loop
        # After an edit that took the loop away nobody has said yet where the debugger stands now.
        steps = next((one.steps for one in program.loops if one.loop == loop), None)
        self._show_rows(self._rows(program) if steps is None else StepRows(steps))

    def _offer_box(self, *_: object) -> None:
        """Whether the box on the canvas that the steps are folded into is to be opened."""
        stop, folded = self.workspace.stop, self.workspace.document.view.collapsed
        around = parents(standing_node(self.workspace))
        is_inside = stop is not None and bool(stop.inside)
        self.unfold.setVisible(is_inside and any(scope in folded for scope in around))

    def _fetch_words(self, then: Callable[[], None]) -> None:
        ops = (op for row in self.model.rows for op in row.told)
        self.workspace.debugger.notations.when_known(ops, then)

    def _unfold(self) -> None:
        """Open the box on the canvas that the steps are folded into."""
        stop = self.workspace.stop
        if stop is not None:
            commands.reveal(self.workspace, stop.op)

    def _rows(self, program: ProgramInfo) -> Rows:
        return StepRows(program.steps) if self.every.isChecked() else self._groups

    def _show_current(self) -> None:
        """Bring the current row into view, and what is around it as far as there is room."""
        for row in (self.model.current + 2, self.model.current - 1, self.model.current):
            row = max(0, min(row, self.model.count() - 1))
            self.table.scrollTo(self.model.index(row, 0))

    def _show_rows(self, rows: Rows) -> None:
        """Put rows into the table, with room for their names, as far as there is any."""
        self.table.setCurrentIndex(QModelIndex())  # what stands there may be another row
        self.model.show(rows)
        self._widest = QFontMetrics(mono(12)).horizontalAdvance("0" * rows.longest_name) + 24
        self._fit_columns()

    def _fit_columns(self) -> None:
        # The table follows later.
        room = self.width() - (0 if self.branches.isHidden() else self.branches.sizeHint().width())
        operation = min(max(self._widest, 120), max(room * 3 // 10, 120))
        value = min(max(room // 5, 216), room // 4, 320)
        self.table.fit_columns({OPERATION: operation, VALUE: value})

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bars.give_room(event.size().height() - STEPS)
        self._fit_columns()
        QTimer.singleShot(0, self, self._show_current)

    def _note_reached(self, runs: int, run: int, step: int) -> None:
        """All but the last run are recorded whole; of that one, as far as it was seen."""
        shown = self.workspace.sessions.current, current_branch(self._branches_now)
        if shown != self._shown:
            self._shown, self._reached = shown, [0]
        runs = max(runs, run + 1)
        kept = self._reached[runs - 1] if len(self._reached) == runs else 0
        self._reached = [self.bars.steps] * (runs - 1) + [kept]
        self._reached[run] = max(self._reached[run], step)

    @property
    def _branches_now(self) -> list[BranchInfo]:
        stop = self.workspace.stop
        return [] if stop is None else stop.branches

    def _select(self, row: int) -> None:
        name = self.model.rows[row].node
        if self.every.isChecked() or name in self.workspace.shown:
            self.workspace.select([name])

    def _go(self, step: int) -> None:
        stop = self.workspace.stop
        target = f"0:{step}" if stop is None else position_of(stop, step)
        commands.run_to(self.workspace, target)


def _rules(program: ProgramInfo) -> Iterator[str]:
    """The rules by which an imported graph updates its variables: "Adam" of ResourceApplyAdam."""
    return (rule for step in program.steps if (rule := step.type.partition("Apply")[2]))
