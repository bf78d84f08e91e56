"""The rows that a run is fed, as a table: their numbers, and what each placeholder gets."""

from __future__ import annotations

from gradstep.core.protocol.messages import BatchSeen
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel


class BatchRows(CellModel):
    """A line for each row, a column for each placeholder."""

    def __init__(self) -> None:
        super().__init__()
        self.headers = ("row",)
        self._batch: BatchSeen | None = None

    def show_batch(self, batch: BatchSeen | None) -> None:
        """Another batch; None for none."""
        self.beginResetModel()
        self._batch = batch
        columns = batch.columns if batch is not None else []
        names = (f"{c.tensor.removesuffix(':0')}  {c.kind}" for c in columns)
        self.headers = ("row", *names)
        self.endResetModel()

    def count(self) -> int:
        return 0 if self._batch is None else len(self._batch.rows)

    def cell(self, row: int, column: int) -> Cell:
        assert self._batch is not None
        if column == 0:
            return Cell(f"{self._batch.rows[row]:,}", tone="muted", right=True)
        return Cell(self._batch.columns[column - 1].cells[row], code=True)
