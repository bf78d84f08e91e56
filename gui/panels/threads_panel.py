"""The threads panel: what runs beside the main program, where each stands, what it waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QHBoxLayout

from gradstep.core.debug.concurrency.thread_state import MAIN, Thread
from gradstep.core.document.queue_threads import enqueuers
from gradstep.core.protocol.messages import ThreadInfo
from gradstep.core.protocol.stopped_position import current_thread
from gradstep.core.protocol.vocabulary import ThreadCondition
from gradstep.gui import commands
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel, add_and_delete
from gradstep.gui.panels.widgets.small_labels import Wrapped
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Fill

_TONES: Mapping[ThreadCondition, Tone] = {
    "ready": "update",
    "blocked": "backward",
    "deadlock": "problem",
    "finished": "muted",
    "failed": "problem",
}
_WAITS = 4  # the column that says what a thread waits for


class ThreadModel(CellModel):
    """Rows are the threads as of the current stop."""

    headers = ("thread", "state", "stands at", "does next", "waits for")

    def __init__(self) -> None:
        super().__init__()
        self.threads: Sequence[ThreadInfo] = ()

    def show(self, threads: Sequence[ThreadInfo]) -> None:
        """The selection stays while the number of threads does."""
        if len(threads) == len(self.threads):
            self.threads = threads
            self.changed()
            return
        self.beginResetModel()
        self.threads = threads
        self.endResetModel()

    def count(self) -> int:
        return len(self.threads)

    def cell(self, row: int, column: int) -> Cell:
        thread = self.threads[row]
        fill: Fill = "current_row" if thread.current else ""
        if column == 0:
            mark = "▸ " if thread.current else "   "
            return Cell(mark + thread.name, strong=thread.current, fill=fill)
        if column == 1:
            return Cell(thread.condition, _TONES[thread.condition], fill=fill)
        texts = (f"run {thread.run + 1} · {_place(thread)}", thread.op, thread.text)
        return Cell(texts[column - 2], "muted", code=column < _WAITS, fill=fill)


def _place(thread: ThreadInfo) -> str:
    """The number of the step that runs next, as the timeline and the status bar have it."""
    if thread.step >= thread.steps:
        return "done"
    return f"step {thread.step + 1} / {thread.steps}"


class ThreadsPanel(Panel):
    """A click on a thread, or Enter, makes it the one that the commands move and the canvas
    shows."""

    title = "Threads"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "threads")
        self.model = ThreadModel()
        self.table = FlatTable(
            lambda: self.theme, self.model, "threads.table", (136, 88, 184, 160, 240), _WAITS
        )
        self.table.setAccessibleName(self.title)
        self.stuck = Wrapped(lambda: self.theme, "threads.stuck", "problem")
        self.stuck.setContentsMargins(12, 0, 12, GRID)
        self.column.addLayout(self._buttons())
        self.column.addWidget(self.stuck)
        self.column.addWidget(self.table, 1)
        self.table.chosen.connect(self._switch)
        self.table.opened.connect(self._switch)
        self.follow(self.refresh, workspace.stopped)
        workspace.document_changed.connect(self._offer)
        self._offer()

    def _buttons(self) -> QHBoxLayout:
        row, self.add, self.delete = add_and_delete(
            self, self.tr("Let an operation run in a thread"), self.tr("Delete the current thread")
        )
        self.delete.clicked.connect(self.remove_current)
        return row

    def refresh(self) -> None:
        """Show where the threads stand."""
        stop, document = self.workspace.stop, self.workspace.document
        self.model.show(stop.threads if stop is not None and document.threads else ())
        self.stuck.setText(self._deadlock())
        self.stuck.setVisible(bool(self.stuck.text()))
        self.delete.setEnabled(self._current() not in ("", MAIN))

    def _offer(self, *_: object) -> None:
        """Another document: other threads, and others that there may be."""
        document = self.workspace.document
        offered = self._offered()
        menu = self.add.menu()
        menu.clear()
        for thread in offered:
            row = add_row(menu, thread.name)
            row.triggered.connect(lambda _=False, new=thread: self._set((*document.threads, new)))
        self.add.setEnabled(bool(offered))
        self.refresh()
        if document.threads or offered:
            self.show_content()
        else:
            self.show_empty(
                self.tr(
                    "Threads appear here: operations that fill queues while the main program "
                    "runs. A graph with an operation that enqueues can have one."
                )
            )

    def remove_current(self) -> None:
        """Delete the current thread, which is not the main one, from the document."""
        name = self._current()
        self._set(tuple(t for t in self.workspace.document.threads if t.name != name))

    def _deadlock(self) -> str:
        stuck = any(thread.condition == "deadlock" for thread in self.model.threads)
        return self.tr("Deadlock: every thread waits for another.") if stuck else ""

    def _current(self) -> str:
        return current_thread(self.model.threads)

    def _offered(self) -> list[Thread]:
        """What enqueues and has no thread yet."""
        document = self.workspace.document
        taken = {name for thread in document.threads for name in thread.targets}
        return [t for t in enqueuers(document.graph) if taken.isdisjoint(t.targets)]

    def _set(self, threads: tuple[Thread, ...]) -> None:
        commands.set_threads(self.workspace, threads)

    def _switch(self, row: int) -> None:
        thread = self.model.threads[row]
        if not thread.current:
            commands.switch_thread(self.workspace, thread.name)
