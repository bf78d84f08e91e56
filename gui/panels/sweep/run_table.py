"""The runs of a sweep as a table that can be sorted by every column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView

from gradstep.core.sweep.run_list import RunSpec
from gradstep.core.sweep.sweep_records import RunRow
from gradstep.gui.model.sweep import Snapshot
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.small_labels import ThemeSource
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

_RUN, _NUMBER, _STATE = 44, 84, 200  # pixels
_NARROW, _WIDEST = 64, 140
_LAST = math.inf


@dataclass(frozen=True)
class Run:
    """row: None while it is not over; step: how far it is, where it is under way."""

    spec: RunSpec
    row: RunRow | None
    step: int = 0


@dataclass(frozen=True)
class _Column:
    title: str
    key: Callable[[Run], Any]
    cell: Callable[[Run], Cell]
    width: int = _NUMBER


class RunModel(CellModel):
    """Those that are over or under way."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Run] = []
        self.by, self.descending = 0, False
        self._columns = _columns([], False, False)
        self._headers: list[str] = []

    @property
    def widths(self) -> list[int]:
        return [column.width for column in self._columns]

    @property
    def headers(self) -> Sequence[str]:  # type: ignore[override]
        mark = " ▾" if self.descending else " ▴"
        titles = [column.title for column in self._columns]
        return [title + (mark if n == self.by else "") for n, title in enumerate(titles)]

    def show(self, seen: Snapshot) -> bool:
        """What is known now; whether there are other columns than before."""
        held = any(row.validation is not None for row in seen.rows)
        columns = _columns(seen.names, seen.has_seeds, held)
        is_other = [c.title for c in columns] != [c.title for c in self._columns]
        over = {row.number: row for row in seen.rows}
        runs = [
            Run(spec, over.get(spec.number), seen.running.get(spec.number, 0))
            for spec in seen.record.runs
            if spec.number in over or spec.number in seen.running
        ]
        if is_other:
            titles = [column.title for column in columns]
            self.by, self.descending = titles.index("loss"), False
        self.layoutAboutToBeChanged.emit() if not is_other else self.beginResetModel()
        count = len(self.runs)
        self._columns = columns
        self.runs = self._sorted(runs)
        if is_other:
            self.endResetModel()
        else:
            self.layoutChanged.emit()
        return is_other or count != len(self.runs)

    def sort_by(self, column: int) -> None:
        """By that one; the other way round where it was so already."""
        self.descending = column == self.by and not self.descending
        self.layoutAboutToBeChanged.emit()
        self.by = column
        self.runs = self._sorted(self.runs)
        self.layoutChanged.emit()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    def count(self) -> int:
        return len(self.runs)

    def cell(self, row: int, column: int) -> Cell:
        return self._columns[column].cell(self.runs[row])

    def _sorted(self, runs: Sequence[Run]) -> list[Run]:
        """What has nothing there stands at the end, whichever way."""
        key = self._columns[self.by].key
        known = [run for run in runs if not _is_last(key(run))]
        rest = [run for run in runs if _is_last(key(run))]
        ordered = sorted(known, key=key, reverse=self.descending)
        return [*ordered, *sorted(rest, key=lambda run: run.spec.number)]


class RunTable(FlatTable):
    """looked_at(runs): the user selected them. wanted(run): double click, Enter."""

    looked_at = Signal(object)
    wanted = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        self.runs = RunModel()
        super().__init__(theme, self.runs, "sweep.table", self.runs.widths)
        self.setAccessibleName(self.tr("Runs"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.column_header.setSectionsClickable(True)
        self.column_header.sectionClicked.connect(self._sort)
        self.selectionModel().selectionChanged.connect(lambda *_: self._tell())
        self.opened.connect(lambda row: self.wanted.emit(self.runs.runs[row].spec.number))
        self._is_showing = False

    @property
    def selected(self) -> tuple[int, ...]:
        """Numbers of the runs that are selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self.runs.runs[row].spec.number for row in rows if row < len(self.runs.runs))

    def show_runs(self, seen: Snapshot) -> None:
        """What is known now; what was selected is selected still."""
        self._keeping(lambda: self._show(seen))

    def _show(self, seen: Snapshot) -> None:
        if self.runs.show(seen):
            self.set_widths(self.runs.widths)

    def select_run(self, number: int) -> None:
        """That one alone."""
        numbers = [run.spec.number for run in self.runs.runs]
        if number in numbers:
            self.selectRow(numbers.index(number))
            self.scrollTo(self.runs.index(numbers.index(number), 0))

    def _sort(self, column: int) -> None:
        self._keeping(lambda: self.runs.sort_by(column))

    def _keeping(self, change: Callable[[], object]) -> None:
        """Do something to the rows, and select the same runs again."""
        chosen = {*self.selected}
        self._is_showing = True
        change()
        self.clearSelection()
        flags = self.selectionModel().SelectionFlag
        for row, run in enumerate(self.runs.runs):
            if run.spec.number in chosen:
                index = self.runs.index(row, 0)
                self.selectionModel().select(index, flags.Select | flags.Rows)
        self._is_showing = False
        self.viewport().update()

    def _tell(self) -> None:
        if not self._is_showing:
            self.looked_at.emit(self.selected)


def _columns(names: Sequence[str], seeds: bool, held: bool) -> list[_Column]:
    found = [_Column("run", _number, lambda run: _plain(str(_number(run))), _RUN)]
    found += [_setting(name) for name in names]
    if seeds:
        found.append(_Column("seed", _seed, lambda run: _plain(str(_seed(run))), _RUN))
    found += [_of("loss", "loss"), _of("best", "best")]
    found += [_of("validation", "validation")] if held else []
    found.append(_Column("steps", _steps, lambda run: _plain(f"{_steps(run):,}"), 60))
    found.append(_Column("", _state, lambda run: _state_cell(run), _STATE))
    return found


def _setting(name: str) -> _Column:
    def key(run: Run) -> Any:
        text = run.spec.values.get(name, "")
        number = number_of(text)
        return (1, 0.0, text) if math.isnan(number) else (0, number, "")

    width = min(max(_NARROW, 7 * len(name) + 30), _WIDEST)
    return _Column(name, key, lambda run: _plain(run.spec.values.get(name, ""), name=True), width)


def _of(title: str, attribute: str) -> _Column:
    def key(run: Run) -> float:
        number = None if run.row is None else getattr(run.row, attribute)
        failed = run.row is not None and run.row.error is not None
        return _LAST if number is None or (failed and title == "loss") else number

    def cell(run: Run) -> Cell:
        number = None if run.row is None else getattr(run.row, attribute)
        tone: Any = "problem" if run.row is not None and run.row.error is not None else "text"
        return Cell("" if number is None else f"{number:.5g}", tone, code=True)

    return _Column(title, key, cell)


def number_of(text: str) -> float:
    """What a setting's text says, if that is a number; else NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def state_words(run: Run) -> str:
    """Why it failed, or ended early, or that it runs."""
    if run.row is None:
        return f"running, step {run.step:,}"
    if run.row.error is not None:
        return run.row.error.message
    again = f"begun {run.row.tries} times" if run.row.tries > 1 else ""
    return ", ".join(filter(None, [run.row.ended, again]))


def _state_cell(run: Run) -> Cell:
    failed = run.row is not None and run.row.error is not None
    return Cell(state_words(run), "problem" if failed else "muted")


def _plain(text: str, name: bool = False) -> Cell:
    return Cell(text, code=True, name=name)


def _number(run: Run) -> int:
    return run.spec.number


def _seed(run: Run) -> int:
    return run.spec.seed or 0


def _steps(run: Run) -> int:
    return run.step if run.row is None else run.row.steps


def _state(run: Run) -> str:
    return state_words(run) or chr(0x10FFFF)


def _is_last(key: object) -> bool:
    return key == _LAST
