"""Rows of numbers with the largest loss, as a table."""

from __future__ import annotations

from gradstep.core.protocol.messages import Classified
from gradstep.gui.panels.classes.class_matrix import class_name
from gradstep.gui.panels.classes.worst_pictures import loss_text
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

WIDTHS = (56, 64, 64, 72)  # pixels of the columns but the last


class WorstTable(CellModel):
    """A line for each row, the largest loss first."""

    headers = ("row", "loss", "is", "taken for", "numbers")

    def __init__(self) -> None:
        super().__init__()
        self.seen: Classified | None = None

    def show_rows(self, seen: Classified | None) -> None:
        """Other rows; None for none."""
        self.beginResetModel()
        self.seen = seen
        self.endResetModel()

    def count(self) -> int:
        return 0 if self.seen is None else len(self.seen.worst)

    def cell(self, row: int, column: int) -> Cell:
        assert self.seen is not None
        worst = self.seen.worst[row]
        wrong = worst.taken != worst.actual
        return (
            Cell(f"{worst.row:,}", tone="muted", right=True),
            Cell(loss_text(worst.loss), right=True),
            Cell(class_name(self.seen, worst.actual)),
            Cell(class_name(self.seen, worst.taken), tone="problem" if wrong else "text"),
            Cell(worst.cells, code=True),
        )[column]
