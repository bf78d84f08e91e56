"""The breakpoints panel: where a run stops, or writes, on what condition, switched on or off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.ready_conditions import READY
from gradstep.core.graph.foreign_origin import operations_by_line, source_line
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.gui import commands
from gradstep.gui.look.plain_text import add_row, plain
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel, add_and_delete
from gradstep.gui.panels.widgets.small_labels import Wrapped
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Index

_TARGET, _KIND, _CONDITION, _HITS, _HIT, _LOG, _EXEMPT = range(7)
_EDITED = (_CONDITION, _HITS, _LOG, _EXEMPT)
_WIDTHS = (184, 104, 240, 64, 48, 208, 120)  # pixels, of the columns
_WHAT = {
    BreakpointKind.OP: "operation",
    BreakpointKind.GRADIENT: "gradient of",
    BreakpointKind.SCOPE: "scope",
    BreakpointKind.TYPE: "op type",
    BreakpointKind.PHASE: "phase",
    BreakpointKind.LINE: "line",
    BreakpointKind.WRITE: "written",
}
_SOMEWHERE = (
    BreakpointKind.OP,
    BreakpointKind.GRADIENT,
    BreakpointKind.SCOPE,
    BreakpointKind.WRITE,
)


class BreakpointModel(CellModel):
    """Rows are the document's breakpoints; `change` gets the whole new list."""

    headers = ("target", "kind", "condition", "from hit", "hits", "writes, and goes on", "not at")

    def __init__(self, change: Callable[[tuple[Breakpoint, ...]], None]) -> None:
        super().__init__()
        self._change = change
        self.breakpoints: tuple[Breakpoint, ...] = ()
        self.hits: Sequence[int] = ()  # of each, as of where the debugger stands

    def show_hits(self, hits: Sequence[int]) -> None:
        """How often each was hit."""
        self.hits = hits if len(hits) == len(self.breakpoints) else ()
        self.changed()

    def show(self, breakpoints: Iterable[Breakpoint]) -> None:
        self.beginResetModel()
        self.breakpoints = tuple(breakpoints)
        self.hits = ()
        self.endResetModel()

    def count(self) -> int:
        return len(self.breakpoints)

    def cell(self, row: int, column: int) -> Cell:
        item = self.breakpoints[row]
        tone: Tone = "text" if item.enabled else "faint"
        if column == _TARGET:
            return Cell(item.target, tone, checked=item.enabled)
        if column == _KIND:
            return Cell(_WHAT[item.kind], "muted" if item.enabled else "faint")
        if column == _CONDITION:
            return Cell(item.condition or "always", tone if item.condition else "faint", code=True)
        if column == _HITS:
            return Cell(str(item.hits), tone, code=True)
        if column == _HIT:
            count = self.hits[row] if self.hits else 0
            return Cell(f"{count:,}" if count else "", "muted", code=True)
        if column == _LOG:
            return Cell(item.log or "stops", tone if item.log else "faint", code=bool(item.log))
        return Cell(", ".join(sorted(item.exempt)), tone, name=True)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.EditRole and index.isValid():
            item = self.breakpoints[index.row()]
            exempt = ", ".join(sorted(item.exempt))
            return {_HITS: item.hits, _LOG: item.log, _EXEMPT: exempt}.get(
                index.column(), item.condition
            )
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.column() == _TARGET:
            return flags | Qt.ItemFlag.ItemIsUserCheckable
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() in _EDITED else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        item = self.breakpoints[index.row()]
        if role == Qt.ItemDataRole.CheckStateRole:
            item = replace(item, enabled=bool(value))
        elif index.column() == _HITS:
            item = replace(item, hits=max(int(value), 1))
        elif index.column() == _LOG:
            item = replace(item, log=str(value).strip())
        elif index.column() == _EXEMPT:
            item = replace(item, exempt=frozenset(re.split(r"[,\s]+", str(value).strip())) - {""})
        else:
            item = replace(item, condition=str(value).strip())
        return self._put(index.row(), item)

    def _put(self, row: int, item: Breakpoint) -> bool:
        if item == self.breakpoints[row]:
            return False
        self._change((*self.breakpoints[:row], item, *self.breakpoints[row + 1 :]))
        return True

    def add(self, item: Breakpoint) -> None:
        """One more, unless it is there already."""
        if item not in self.breakpoints:
            self._change((*self.breakpoints, item))

    def remove(self, row: int) -> None:
        self._change((*self.breakpoints[:row], *self.breakpoints[row + 1 :]))


def _words(item: Breakpoint) -> str:
    """As a menu offers it."""
    if item.kind is BreakpointKind.WRITE:
        return f"each time {item.target} is written"
    text = f"{_WHAT[item.kind]} {item.target}"
    if item.log:
        return f"log at {item.target}, without stopping"
    return f"{text}, when {item.condition}" if item.condition else text


class BreakpointsPanel(Panel):
    """A click on the box switches one off; Delete removes it; conditions are edited in place."""

    title = "Breakpoints"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "breakpoints")
        self.model = BreakpointModel(lambda items: commands.set_breakpoints(workspace, items))
        self.table = FlatTable(
            lambda: workspace.theme,
            self.model,
            "breakpoints.table",
            _WIDTHS,
            _CONDITION,
        )
        self.table.setAccessibleName(self.title)
        self.column.addLayout(self._buttons())
        self.column.addWidget(self.table, 1)
        self.nothing = Wrapped(lambda: self.theme, "breakpoints.nothing", "muted")
        self.nothing.setText(self.tr("There is none. F9 sets one on the selected node."))
        self.nothing.setContentsMargins(12, GRID, 12, GRID)
        self.column.addWidget(self.nothing, 1)
        self.table.chosen.connect(self._show_target)
        delete = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.remove_current)
        self.follow(self.refresh, workspace.document_changed)
        self.follow(self._show_hits, workspace.stopped)
        self.follow(self._offer, workspace.selection_changed)
        self.refresh()

    def _buttons(self) -> QHBoxLayout:
        row, self.add, self.delete = add_and_delete(
            self, self.tr("Add a breakpoint"), self.tr("Delete the breakpoint")
        )
        self.delete.clicked.connect(self.remove_current)
        self.ready = QPushButton(self.tr("Condition"))
        self.ready.setObjectName("breakpoints.condition")
        self.ready.setAccessibleName(self.tr("A condition for the breakpoint"))
        self.ready.setMenu(self._conditions())
        row.insertWidget(1, self.ready)
        return row

    def _conditions(self) -> QMenu:
        """What is looked for most, to be put in the current row and changed there."""
        menu = QMenu(self)
        for ready in READY:
            row = add_row(menu, ready.title)
            row.setToolTip(plain(ready.text))
            row.triggered.connect(lambda _=False, text=ready.text: self.set_condition(text))
        menu.setToolTipsVisible(True)
        menu.addSeparator()
        always = add_row(menu, self.tr("Always"))
        always.triggered.connect(lambda _=False: self.set_condition(""))
        return menu

    def set_condition(self, text: str) -> None:
        """Of the current row."""
        row = self.table.currentIndex().row()
        if 0 <= row < self.model.count():
            self.model.setData(self.model.index(row, _CONDITION), text)
            self.table.selectRow(row)

    def _show_hits(self, *_: object) -> None:
        stop = self.workspace.stop
        self.model.show_hits(() if stop is None or stop.seen is None else stop.seen.hits)

    def refresh(self, *_: object) -> None:
        """Show the document's breakpoints, and what may be added."""
        row = self.table.currentIndex().row()
        if self.model.breakpoints != self.workspace.document.breakpoints:
            self.model.show(self.workspace.document.breakpoints)
            self.table.selectRow(min(row, self.model.count() - 1))
            self._show_hits()
        self._offer()
        self.table.setVisible(self.model.count() > 0)
        self.nothing.setVisible(not self.model.count())
        if self.model.count() or len(self.workspace.shown):
            self.show_content()
        else:
            self.show_empty(self.tr("Breakpoints appear here. F9 sets one on the selected node."))

    def remove_current(self) -> None:
        """Delete the breakpoint in the current row."""
        row = self.table.currentIndex().row()
        if 0 <= row < self.model.count():
            self.model.remove(row)

    def _offer(self) -> None:
        """Fill the menu of "Add" with what fits the selection."""
        menu = self.add.menu()
        menu.clear()
        for item in self._suggestions():
            row = add_row(menu, _words(item))
            row.triggered.connect(lambda _=False, new=item: self.model.add(new))
        self.delete.setEnabled(bool(self.model.count()))
        self.ready.setEnabled(bool(self.model.count()))

    def _suggestions(self) -> list[Breakpoint]:
        graph = self.workspace.shown
        chosen = [graph[name] for name in self.workspace.selection if name in graph][:1]
        found = []
        for op in chosen:
            found += [Breakpoint(op.name), Breakpoint(op.name, BreakpointKind.GRADIENT)]
            if op.type in VARIABLES:
                found.append(Breakpoint(op.name, BreakpointKind.WRITE))
            found.append(Breakpoint(op.name, log=f"{op.name} is {{value}}"))
            if line := source_line(op):
                found.append(Breakpoint(line, BreakpointKind.LINE))
            found.append(Breakpoint(op.type, BreakpointKind.TYPE))
            if op.scope:
                found.append(Breakpoint(op.scope, BreakpointKind.SCOPE))
        phases = ("forward", "backward", "update")
        found += [Breakpoint(phase, BreakpointKind.PHASE) for phase in phases]
        return found + [Breakpoint(p, BreakpointKind.PHASE, "isnan(value)") for p in phases[:2]]

    def _show_target(self, row: int) -> None:
        item = self.model.breakpoints[row]
        if item.kind in _SOMEWHERE:
            commands.reveal(self.workspace, item.target)
        elif item.kind is BreakpointKind.LINE:
            asked = operations_by_line(self.workspace.shown).get(item.target, ())
            for name in asked[:1]:
                commands.reveal(self.workspace, name)
