"""What ran: the passes that rewrite fast runs, what each did, and which to leave out next time."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QSplitter, QVBoxLayout, QWidget

from gradstep.core.protocol.messages import PassInfo
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.theme import GRID
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.small_labels import ThemeSource, Wrapped
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Index, RowModel

NAME, STEPS, BITS = range(3)
SHARES = (480, 640)  # of the passes and of what is said about one


class PassModel(CellModel):
    """A row a pass. toggled(name, out): the user leaves it out of the next run, or not."""

    headers = ("pass", "steps", "rounding")
    toggled = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.passes: list[PassInfo] = []
        self._without: frozenset[str] = frozenset()

    def show(self, passes: Sequence[PassInfo], without: Collection[str]) -> None:
        self._without = frozenset(without)
        if [p.name for p in passes] == [p.name for p in self.passes]:
            self.passes = list(passes)
            self.changed()
            return
        self.beginResetModel()
        self.passes = list(passes)
        self.endResetModel()

    def count(self) -> int:
        return len(self.passes)

    def cell(self, row: int, column: int) -> Cell:
        info = self.passes[row]
        wanted = info.name not in self._without
        if column == NAME:
            return Cell(info.name, "text" if wanted else "muted", checked=wanted, tip=info.text)
        if column == BITS:
            return _rounding(info)
        if info.on and info.steps_before:
            same = info.steps_before == info.steps_after
            width = len(str(max(p.steps_before for p in self.passes)))
            text = f"{info.steps_before:>{width}} → {info.steps_after:>{width}}"
            return Cell(text, "muted" if same else "text", code=True)
        return Cell(self.tr("did not run"), "faint")

    def flags(self, index: Index) -> Qt.ItemFlag:
        can = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return can | Qt.ItemFlag.ItemIsUserCheckable if index.column() == NAME else can

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole:
            return False
        self.toggled.emit(self.passes[index.row()].name, not value)
        return True


def _rounding(info: PassInfo) -> Cell:
    if info.same_bits:
        return Cell("= same bits", "muted")
    return Cell("≈ may differ", tip=info.differs)


class GoneModel(RowModel[tuple[str, str]]):
    """What became of operations that a pass left no step of."""

    headers = ("operation", "what became of it")

    def cell(self, row: int, column: int) -> Cell:
        return Cell(self.rows[row][column], "muted" if column else "text")


class Passes(QSplitter):
    """toggled(name, out): as in PassModel. chosen(operation): the user looks at one that went."""

    chosen = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("profile.passes")
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.model, self.gone = PassModel(), GoneModel()
        self.toggled = self.model.toggled
        self.table = FlatTable(theme, self.model, "profile.passes.table", (144, 104, 96), NAME)
        self.table.setAccessibleName(self.tr("Passes of fast runs"))
        self.text = Wrapped(theme, "profile.passes.text", "muted")
        self.text.setContentsMargins(12, GRID, 12, GRID)
        self.fates = FlatTable(theme, self.gone, "profile.passes.gone", ())
        self.fates.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.fates.setAccessibleName(self.tr("What became of operations"))
        self.kernels = Check(theme, self.tr("kernels of other libraries"), "profile.kernels")
        self.kernels.setToolTip(
            self.tr(
                "Compute with SciPy, oneDNN or numba where one is installed and faster than NumPy; "
                "results may differ in rounding. Help > What this machine has… says which are "
                "there."
            )
        )
        self.addWidget(_column(self.table, _inset(self.kernels)))
        self.addWidget(_column(self.text, self.fates))
        self.setSizes(SHARES)
        self.table.selectionModel().currentRowChanged.connect(self._tell)
        self.fates.chosen.connect(lambda row: self.chosen.emit(self.gone.rows[row][0]))
        self._tell()

    def show_passes(self, passes: Sequence[PassInfo], without: Collection[str]) -> None:
        """Those of the last run, and which are to be left out of the next."""
        self.model.show(passes, without)
        self.table.setVisible(bool(passes))
        self._tell()

    def _tell(self, *_: QModelIndex) -> None:
        """What the current pass does, and did."""
        row = self.table.currentIndex().row()
        info = self.model.passes[row] if 0 <= row < self.model.count() else None
        self.text.setText(self._words(info))
        self.gone.show(list(info.gone.items()) if info is not None else [])
        self.fates.setVisible(bool(self.gone.rows))

    def _words(self, info: PassInfo | None) -> str:
        if not self.model.passes:
            return self.tr(
                "Passes rewrite fast runs. Measure one: what each did appears here, "
                "and can be left out of the next."
            )
        if info is None:
            return self.tr(
                "Select a pass to see what became of operations. "
                "Without its check mark it is left out of the next fast run."
            )
        more = info.gone_count - len(info.gone)
        rest = f"{count_of(more, 'operation')} more than are listed." if more > 0 else ""
        differs = self.tr("Rounding: {}.").format(info.differs) if info.differs else ""
        return " ".join(filter(None, (info.text, differs, rest)))


def _column(*parts: QWidget) -> QWidget:
    """Widgets one above the other; tables take the room."""
    column = QWidget()
    rows = QVBoxLayout(column)
    rows.setContentsMargins(0, 0, 0, 0)
    rows.setSpacing(0)
    for part in parts:
        rows.addWidget(part, 1 if isinstance(part, FlatTable) else 0)
    rows.addStretch(0)
    return column


def _inset(part: QWidget) -> QWidget:
    """In from the edges, as the texts of tables are."""
    room = QWidget()
    row = QHBoxLayout(room)
    row.setContentsMargins(12, GRID, 12, GRID)
    row.addWidget(part)
    row.addStretch(1)
    return room
