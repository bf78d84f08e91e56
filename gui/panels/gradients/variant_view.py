"""What if: each gradient in all its variants, and where they part; a click goes there."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QVBoxLayout, QWidget

from gradstep.gui import commands
from gradstep.gui.look.theme import GRID, Theme
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.gradients.bend_boxes import BendBoxes
from gradstep.gui.panels.gradients.variant_model import COLUMNS, VariantModel, describe
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.small_labels import Wrapped

_WIDTHS = (82, 60, 60, 72, 60, 60, 60)  # pixels, of the columns; the first takes what is left
_ONLY = ("overrides only", "stops only")  # say something where there are both


class VariantView(QWidget):
    """It asks for nothing before it is shown."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace, self._variants = workspace, workspace.variants
        self.setObjectName("gradients.variants")
        self.numeric = self._numeric_box()
        self.bends = BendBoxes(workspace, self.numeric)
        self.model = VariantModel()
        self.table = FlatTable(lambda: self._theme, self.model, "gradients.variants.table", _WIDTHS)
        self.table.horizontalHeader().setMinimumSectionSize(_WIDTHS[1])
        self.table.setAccessibleName(self.tr("Gradients in all variants"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.table.clicked.connect(self._go)
        self.table.opened.connect(lambda _: self._go(self.table.currentIndex()))
        self.table.selectionModel().currentChanged.connect(lambda *_: self._say())
        self.detail = Wrapped(lambda: self._theme, "gradients.variants.detail")
        self.detail.setContentsMargins(12, GRID, 12, GRID)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bends)
        column.addWidget(self.table, 1)
        column.addWidget(self.detail)

    @property
    def _theme(self) -> Theme:
        return self._workspace.theme

    def _numeric_box(self) -> Check:
        box = Check(lambda: self._theme, self.tr("numeric"), "gradients.variants.numeric")
        box.setToolTip(self.tr("Measure some elements of each by finite differences."))
        box.setChecked(self._variants.is_measured)
        box.toggled.connect(self._variants.measure)
        return box

    def refresh(self) -> None:
        """Show what is known, and ask where that is of something else than there is now."""
        self._variants.require()
        request = self._workspace.document.request
        both = any(one.enabled for one in request.overrides) and bool(
            request.stops or request.stopped_edges
        )
        for number, name in enumerate(COLUMNS, 1):
            hidden = (name in _ONLY and not both) or (
                name == "numeric" and not self._variants.is_measured
            )
            self.table.setColumnHidden(number, hidden)
        self._fit()
        self.bends.refresh()
        self.model.show(self._variants.shown)
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Names take what the numbers leave, and some room in any case."""
        hidden = self.table.isColumnHidden
        taken = sum(w for column, w in enumerate(_WIDTHS) if column and not hidden(column))
        self.table.setColumnWidth(0, max(_WIDTHS[0], self.width() - taken))

    def _say(self) -> None:
        """Of the current cell, or of all."""
        found = self._variants.shown
        if self._variants.said:
            self.detail.setText(self._variants.said)
            return
        place = self.table.currentIndex()
        cell = self.model.at(place.row(), place.column()) if place.isValid() else None
        if cell is not None:
            self.detail.setText(describe(self.model.rows[place.row()], cell))
        else:
            self.detail.setText("" if found is None else found.text)

    def _go(self, place: QModelIndex) -> None:
        """To the operation where this gradient parts from native; to the tensor itself by its
        name."""
        if place.column() == 0:
            commands.reveal(self._workspace, self.model.rows[place.row()].wrt)
            return
        cell = self.model.at(place.row(), place.column())
        if cell is not None and cell.node:
            commands.reveal(self._workspace, cell.node)
