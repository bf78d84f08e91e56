"""The what-if table: the norm of each gradient in each variant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gradstep.core.protocol.messages import GradientVariants, VariantCell, VariantRow
from gradstep.core.protocol.vocabulary import VariantName
from gradstep.gui.model import number_text
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

COLUMNS: Mapping[VariantName, str] = {
    "native": "native",
    "as it stands": "as is",
    "overrides only": "overrides",
    "stops only": "stops",
    "numeric": "numeric",
    "straight-through": "straight",
}
_NAMES = tuple(COLUMNS)


class VariantModel(CellModel):
    """A row for each gradient; what is another than natively stands out."""

    headers = ("dL/d", *COLUMNS.values())

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[VariantRow] = ()
        self.errors: Mapping[str, str] = {}

    def show(self, found: GradientVariants | None) -> None:
        """Another answer; the place in the table stays, where its rows are the same."""
        rows = found.rows if found is not None else []
        self.errors = found.errors if found is not None else {}
        if [(r.of, r.wrt) for r in rows] == [(r.of, r.wrt) for r in self.rows]:
            self.rows = rows
            self.changed()
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def count(self) -> int:
        return len(self.rows)

    def at(self, row: int, column: int) -> VariantCell | None:
        """What a cell is about; None for a name, and for what is not known."""
        if not 0 < column <= len(_NAMES) or not 0 <= row < len(self.rows):
            return None
        name = _NAMES[column - 1]
        return next((cell for cell in self.rows[row].cells if cell.variant == name), None)

    def cell(self, row: int, column: int) -> Cell:
        if column == 0:
            return Cell(self._name(self.rows[row]), code=True, name=True)
        found = self.at(row, column)
        if found is None:
            error = self.errors.get(_NAMES[column - 1], "")
            return Cell("error" if error else "…", "problem" if error else "faint", tip=error)
        text = _text(self.rows[row], found)
        tip = describe(self.rows[row], found)
        if not found.same:
            return Cell(text, "override", code=True, strong=True, tip=tip)
        return Cell(text, "text" if column == 1 else "muted", code=True, tip=tip)

    def _name(self, row: VariantRow) -> str:
        several = any(other.of != row.of for other in self.rows)
        return f"{row.of}/{row.wrt}" if several else row.wrt


def _text(row: VariantRow, cell: VariantCell) -> str:
    """A norm; of some elements alone it says nothing beside those of all."""
    if cell.norm is None:
        return "None"
    if 0 < cell.looked_at < row.size:
        return "✓" if cell.same else "×"
    return number_text.short(cell.norm)


def describe(row: VariantRow, cell: VariantCell) -> str:
    """A gradient in one variant: its elements, how far from native it is, and from where on."""
    value = "None" if cell.norm is None else f"{cell.preview}, norm {cell.norm:.4g}"
    of = f" ({cell.looked_at} of {row.size} elements)" if 0 < cell.looked_at < row.size else ""
    return f"d {row.of} / d {row.wrt}, {cell.variant}: {value}{of}{_apart(cell)}"


def _apart(cell: VariantCell) -> str:
    if cell.variant == "native":
        return "."
    if cell.same:
        return "; the same as native."
    off = cell.difference
    far = "" if off is None or not math.isfinite(off) else f"; {off:.1%} from native"
    return f"{far}. Parts from native at {cell.where}." if cell.where else f"{far}."
