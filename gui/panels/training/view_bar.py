"""How the curves are looked at: as plots, by scope, or as the gradient-flow map of a measure."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from gradstep.core.debug.breaks.layer_curves import Family
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.pill import Pill

MEASURES: dict[Family, str] = {
    "gradient": "gradient norm",
    "ratio": "update / weight",
    "dead": "dead units",
}
HISTOGRAMS = "histograms"  # of what is followed by them; the last that a map can be of


class ViewBar(QWidget):
    """looked(): the user looks otherwise: `is_map`, `is_split`. measured(): wants the map of
    `measure`."""

    looked = Signal()
    measured = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._map = Pill(workspace, self.tr("Map"), "training.view.map", "backward")
        self._map.setToolTip(
            self.tr("Steps across, layers down, coloured by what is chosen beside")
        )
        self._map.toggled.connect(self._change)
        self._measure = QComboBox()
        self._measure.setObjectName("training.view.measure")
        self._measure.setAccessibleName(self.tr("What the map is of"))
        self._measure.addItems([self.tr(words) for words in (*MEASURES.values(), HISTOGRAMS)])
        self._measure.activated.connect(self._choose)
        self._split = Pill(workspace, self.tr("By scope"), "training.view.split")
        self._split.setToolTip(self.tr("A plot for each scope, all of a kind on one axis"))
        self._split.toggled.connect(self._change)
        row = FlowLayout(self, line_gap=GRID // 2)
        row.setContentsMargins(12, 0, 12, 2)
        for widget in (self._map, self._measure, self._split):
            row.addWidget(widget)
        self._row = row

    def add(self, widget: QWidget) -> None:
        """Something more, at the end of the bar."""
        self._row.addWidget(widget)

    @property
    def is_map(self) -> bool:
        """Whether the map is shown."""
        return self._map.isChecked()

    @property
    def is_split(self) -> bool:
        """Whether each scope has plots of its own."""
        return self._split.isChecked()

    @property
    def is_spread(self) -> bool:
        """Whether it is a map of histograms."""
        return self.is_map and self._measure.currentIndex() == len(MEASURES)

    @property
    def measure(self) -> Family:
        """What the map is of, unless it is of histograms."""
        return [*MEASURES][min(self._measure.currentIndex(), len(MEASURES) - 1)]

    def show_histograms(self) -> None:
        """Look at the map of them."""
        self._measure.setCurrentIndex(len(MEASURES))
        self._choose()

    def _change(self, *_: object) -> None:
        self._split.setEnabled(not self.is_map)
        self.looked.emit()
        if self.is_map:
            self.measured.emit()

    def _choose(self, *_: object) -> None:
        if self.is_map:
            self.measured.emit()
        else:
            self._map.setChecked(True)
