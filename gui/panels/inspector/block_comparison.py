"""Equal blocks side by side: how large what leaves each is, what comes back to it, its weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from PySide6.QtWidgets import QHeaderView, QVBoxLayout, QWidget

from gradstep.gui import commands
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model import number_text
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.compared_blocks import (
    ComparedBlock,
    compared_blocks,
    compared_scopes,
)
from gradstep.gui.panels.widgets.flat_header import HEIGHT as HEADER
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT, FlatTable
from gradstep.gui.panels.widgets.small_labels import SectionHeader, Wrapped
from gradstep.gui.panels.widgets.table_cells import Cell, RowModel

NAME, VALUE, GRADIENT, WEIGHTS, WEIGHT_GRADIENTS = range(5)
_MOST = 24  # rows in view; of more, the table scrolls


class BlockNorms(RowModel[ComparedBlock]):
    """A row for each block. What is read of it is asked for when the row is painted."""

    headers = ("block", "value", "∂", "weights", "∂ weights")

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace

    def cell(self, row: int, column: int) -> Cell:
        block = self.rows[row]
        read, grown = self._workspace.value, self._workspace.gradient
        if column == NAME:
            return Cell(short_name(block.scope), code=True, name=True, tip=block.scope)
        if column == VALUE:
            return norm_cell([read(block.result)], "forward", block.result)
        if column == GRADIENT:
            return norm_cell([grown(block.result)], "backward", block.result)
        if column == WEIGHTS:
            return norm_cell(map(read, block.weights), "update", f"weights of {block.scope}")
        return norm_cell(map(grown, block.weights), "backward", f"weights of {block.scope}")


def norm_cell(values: Iterable[TensorValue | None], tone: Tone, of: str) -> Cell:
    """The norm of several tensors as if they were one; a gradient that there is none of is left
    out. A dash until all are there."""
    found = [value for value in values if value is None or value.state != "none"]
    known = [v for v in found if v is not None and v.state == "known"]
    if not found or len(known) < len(found):
        tip = f"{of}: {'not known here' if found else 'nothing comes here'}"
        return Cell("–", "faint", code=True, tip=tip)
    stats = [value.stats for value in known if value.stats is not None]
    nans, infs = sum(s.nans for s in stats), sum(s.infs for s in stats)
    if nans or infs:
        counted = ", ".join(f"{n:,} {word}" for n, word in ((nans, "NaN"), (infs, "Inf")) if n)
        word = "NaN" if nans else "Inf"
        return Cell(word, "problem", code=True, strong=True, tip=f"{of}: {counted}")
    norm = math.hypot(*(s.norm or 0.0 for s in stats))
    return Cell(number_text.short(norm), tone, code=True, tip=f"{of}: norm {norm:g}")


def short_name(scope: str) -> str:
    """As much of a block's name as tells it from the others: "h/0", "layer_1"."""
    around, _, last = scope.rpartition("/")
    return f"{around.rpartition('/')[2]}/{last}".lstrip("/") if last.isdecimal() else last


class BlockComparison(QWidget):
    """Shown where a stack of equal blocks is selected, or one of them. A click on a row, and Enter,
    opens that block and selects it."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.blocks")
        self._workspace = workspace
        self._shown: tuple[object, ...] = ()  # what the rows were made of
        self.model = BlockNorms(workspace)
        theme = lambda: workspace.theme  # noqa: E731
        self.header = SectionHeader(theme, "")
        name = "inspector.blocks.table"
        self.table = FlatTable(theme, self.model, name, (), margin=GRID // 2)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.setAccessibleName(self.tr("Equal blocks, and the norms of what is in them"))
        self.note = Wrapped(theme, "inspector.blocks.note", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        for part in (self.header, self.table, self.note):
            column.addWidget(part)
        self.note.setText(
            self.tr(
                "Norms of what leaves each block, of the gradient that comes back there, of its "
                "weights and of their gradients. A click opens the block."
            )
        )
        self.table.clicked.connect(lambda index: self._open(index.row()))
        self.table.opened.connect(self._open)

    def show_selection(self) -> bool:
        """Show what is selected, if that is to be compared; whether it is."""
        space = self._workspace
        made = space.selection, space.shown, space.stacks.shown_by
        if not self._shown or any(a is not b for a, b in zip(made, self._shown, strict=True)):
            self._shown = made
            self._show_scopes(*compared_scopes(space))
        else:
            self.model.changed()
        return bool(self.model.rows)

    def _show_scopes(self, scopes: Sequence[str], chosen: str) -> None:
        blocks = compared_blocks(self._workspace, scopes)
        if blocks == self.model.rows:
            self.model.changed()
        else:
            self.model.show(blocks)
        if not blocks:
            return
        self.header.set_texts(
            self.tr("{} equal blocks").format(len(blocks)),
            self.tr("{} operations each").format(blocks[0].operations),
        )
        for column in (WEIGHTS, WEIGHT_GRADIENTS):
            self.table.setColumnHidden(column, not blocks[0].weights)
        rows = min(len(blocks), _MOST)
        self.table.setFixedHeight(rows * ROW_HEIGHT + HEADER)
        self.table.clearSelection()
        if chosen in scopes:
            self.table.setCurrentIndex(self.model.index(scopes.index(chosen), NAME))

    def _open(self, row: int) -> None:
        commands.open_scope(self._workspace, self.model.rows[row].scope)
