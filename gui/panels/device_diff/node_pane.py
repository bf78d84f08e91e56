"""One node on two devices: the elements that differ most, how far apart, and what is NaN."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.protocol.messages import ComparedNode, ElementPair, NodeDifference
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.panels.device_diff.nonfinite_mask import NonfiniteMask
from gradstep.gui.panels.device_diff.ulp_histogram import UlpHistogram
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT, FlatTable
from gradstep.gui.panels.widgets.small_labels import SectionHeader, ThemeSource, Wrapped
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

_WIDTHS = (62, 70, 70, 70)


class NodePane(QWidget):
    """Of the device on which it differs most."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("device_diff.node")
        self.head = SectionHeader(theme, "")
        self.remark = Wrapped(theme, "device_diff.node.remark", "muted")
        self.worst = _WorstModel()
        self.table = FlatTable(theme, self.worst, "device_diff.worst", _WIDTHS)
        self.table.setAccessibleName(self.tr("Elements that differ most"))
        self.ulps_title = SectionHeader(theme, self.tr("Elements by distance in ULP"))
        self.ulps = UlpHistogram(theme)
        self.lost = Wrapped(theme, "device_diff.node.lost", "muted")
        self.places = NonfiniteMask(theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 0, 12, GRID)
        column.setSpacing(GRID // 2)
        parts: Sequence[QWidget] = (self.head, self.remark, self.table, self.ulps_title, self.ulps)
        for part in (*parts, self.lost, self.places):
            column.addWidget(part)
        column.addStretch(1)

    def show_node(self, node: ComparedNode, left: str, right: str) -> None:
        """left, right: what the devices are called here."""
        which = f"{node.iteration}: " if node.iteration else ""
        self.head.set_texts(node.name, f"{which}{right}: {node.verdict}")
        said = [node.rule, node.unknown, node.right.text if node.right.status != "ok" else ""]
        said += [node.left.text if node.left.status != "ok" else ""]
        detail = node.detail
        if detail is None and not any(said):
            said.append(self.tr("The same on both."))
        self.remark.setText("\n".join(dict.fromkeys(filter(None, said))))
        self.remark.setVisible(bool(self.remark.text()))
        self._show_worst(detail, left, right)
        self.ulps.show_counts([] if detail is None else detail.ulps)
        self.ulps_title.setVisible(self.ulps.isVisibleTo(self))
        self._show_lost(detail, node, left, right)

    def _show_worst(self, detail: NodeDifference | None, left: str, right: str) -> None:
        pairs = [] if detail is None else detail.worst
        self.worst.show_pairs(pairs, left, right)
        self.table.setVisible(bool(pairs))
        height = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(height + ROW_HEIGHT * len(pairs) + 2)

    def _show_lost(
        self, detail: NodeDifference | None, node: ComparedNode, left: str, right: str
    ) -> None:
        found = detail is not None and bool(detail.mask)
        self.lost.setVisible(found)
        self.places.setVisible(found)
        if detail is None or not found:
            return
        only = self.tr("NaN or infinite: {} on {} only, {} on {} only, {} on both")
        counts = detail.nonfinite_left, detail.nonfinite_right, detail.nonfinite_both
        self.lost.setText(only.format(counts[0], left, counts[1], right, counts[2]))
        self.places.show_mask(detail.mask, node.left.shape[-1] if node.left.shape else 1)
        self.places.setAccessibleName(self.lost.text())


class _WorstModel(CellModel):
    def __init__(self) -> None:
        super().__init__()
        self._pairs: Sequence[ElementPair] = ()

    def show_pairs(self, pairs: Sequence[ElementPair], left: str, right: str) -> None:
        self.beginResetModel()
        self._pairs = pairs
        self.headers = ("element", left, right, "float64")
        self.endResetModel()

    def count(self) -> int:
        return len(self._pairs)

    def cell(self, row: int, column: int) -> Cell:
        pair = self._pairs[row]
        if column == 0:
            return Cell(str(pair.index), "muted", code=True)
        value = (pair.left, pair.right, pair.reference)[column - 1]
        tone: Tone = "problem" if column == 2 else "faint" if column == 3 else "text"
        return Cell(_element(value), tone, code=True)


def _element(value: float | int | bool | str | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return {"Infinity": "Inf", "-Infinity": "-Inf"}.get(value, value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)
