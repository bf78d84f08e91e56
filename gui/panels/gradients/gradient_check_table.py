"""The table of gradients: native, overridden and numeric, element by element."""

from __future__ import annotations

import numpy as np

from gradstep.core.protocol.messages import GradientRow
from gradstep.gui.model import number_text
from gradstep.gui.panels.inspector.node_gradcheck import MARKS
from gradstep.gui.panels.widgets.table_cells import Cell, RowModel

NAME, NATIVE, OVERRIDE, NUMERIC, VERDICT = range(5)
_DIGITS = 4


class GradientModel(RowModel[GradientRow]):
    """The column of the gradient in force is red where it disagrees with the numbers."""

    headers = ("dL/d", "native", "override", "numeric", "")

    @property
    def overridden(self) -> bool:
        """Whether any gradient here is overridden."""
        return any(row.override is not None for row in self.rows)

    def cell(self, row: int, column: int) -> Cell:
        item = self.rows[row]
        if column == NAME:
            where = f"[{','.join(map(str, item.index))}]" if item.index else ""
            text = f"{item.name.removesuffix(':0')}{where}"
            return Cell(text, code=True, name=True, ending=where)
        if column == VERDICT:
            return _verdict(item)
        in_force = OVERRIDE if self.overridden else NATIVE
        value = {NATIVE: item.native, OVERRIDE: item.override, NUMERIC: item.numeric}[column]
        wrong = column == in_force and not item.agrees
        text = "None" if value is None else digits(value)
        return Cell(text, "problem" if wrong else "faint" if value is None else "text", code=True)


def digits(value: float) -> str:
    """A gradient's element with four decimals, or an exponent where that says nothing."""
    return number_text.elements(np.array([value]), _DIGITS)[0]


def _verdict(item: GradientRow) -> Cell:
    if item.numeric is None:
        return Cell("", tip="no numbers to compare with")
    mark, tone = MARKS[item.verdict or ("ok" if item.agrees else "wrong")]
    off = "" if item.difference is None else f"off by {item.difference:.2g} "
    return Cell(mark, tone, tip=f"{item.verdict}: {off}({item.method})")
