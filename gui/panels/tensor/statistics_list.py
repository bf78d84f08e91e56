"""The statistics of a slice beside it: percentiles, spread, and counts of what stands out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHeaderView

from gradstep.core.protocol.messages import TensorStatistics
from gradstep.gui.look.theme import Tone
from gradstep.gui.model import number_text
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.small_labels import ThemeSource
from gradstep.gui.panels.widgets.table_cells import Cell, RowModel

PERCENTS = (1.0, 25.0, 50.0, 75.0, 99.0)
WIDTH = 208
_NAMES = ("1 %", "25 %", "median", "75 %", "99 %")
_VALUE = 112
_HEIGHT = 20
MEASURE = "measure"  # what a row that is still to be computed leads to


@dataclass(frozen=True, slots=True)
class Row:
    """leads_to: the condition that finds such an element; "" where nothing is to be found."""

    name: str
    text: str
    leads_to: str = ""
    tone: Tone = "text"


def rows_of(found: TensorStatistics) -> list[Row]:
    """What is known, in the order in which numbers lie; where not all elements are finite, the norm
    stands before what is of the finite ones alone."""
    stats = found.stats
    rows = [Row("elements", f"{found.size:,}")]
    counts = (
        ("NaN", stats.nans, "nan"),
        ("Inf", stats.infs, "isinf(value)"),
        ("zero", stats.zeros, "value == 0"),
    )
    for name, count, condition in counts:
        tone: Tone = "problem" if count and name != "zero" else "text" if count else "faint"
        rows.append(Row(name, _share(count, found.size), condition if count else "", tone))
    wrong = stats.nans or stats.infs
    norm = [] if stats.norm is None else [Row("norm", number_text.scalar(stats.norm))]
    rows += norm if wrong else []
    if stats.minimum is None or stats.maximum is None:
        return rows
    rows += [Row("of the finite", "", tone="faint")] if wrong else []
    rows.append(Row("min", number_text.scalar(stats.minimum), "min"))
    pairs = zip(_NAMES, found.percentiles, strict=False)
    rows += [Row(name, number_text.scalar(value)) for name, value in pairs]
    rows.append(Row("max", number_text.scalar(stats.maximum), "max"))
    others = (("mean", stats.mean), ("deviation", found.deviation))
    rows += [Row(name, number_text.scalar(x)) for name, x in others if x is not None]
    return rows if wrong else rows + norm


def _share(count: int, size: int) -> str:
    """A count, and what part of all that is."""
    if not count:
        return "0"
    return f"{count:,}  {100 * count / size:.3g} %"


class _Rows(RowModel[Row]):
    headers = ("", "")

    def cell(self, row: int, column: int) -> Cell:
        shown = self.rows[row]
        if column == 0:
            return Cell(shown.name, "muted")
        return Cell(shown.text, shown.tone, code=True, right=True)


class StatisticsList(FlatTable):
    """A click on a count or an end goes to such an element. wanted(condition)."""

    wanted = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        self._rows = _Rows()
        super().__init__(theme, self._rows, "tensor.statistics", (80, _VALUE), stretch=1)
        self.setAccessibleName(self.tr("Statistics"))
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(_HEIGHT)
        self.setFixedWidth(WIDTH)
        self.measure: Callable[[], None] = lambda: None
        self.chosen.connect(self._choose)

    def show_found(self, found: TensorStatistics) -> None:
        self._rows.show(rows_of(found))

    def offer(self, size: int) -> None:
        """Large tensors are measured when that is asked for."""
        measure = Row("statistics", "measure", MEASURE, "selection")
        self._rows.show([Row("elements", f"{size:,}"), measure])

    def clear(self) -> None:
        self._rows.show([])

    def texts(self) -> dict[str, str]:
        """What it says."""
        return {row.name: row.text for row in self._rows.rows}

    def _choose(self, number: int) -> None:
        leads_to = self._rows.rows[number].leads_to
        if leads_to == MEASURE:
            self.measure()
        elif leads_to:
            self.wanted.emit(leads_to)
