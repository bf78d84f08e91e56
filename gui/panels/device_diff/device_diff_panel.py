"""The device panel: the same graph on several devices, node by node, forward and backward."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton

from gradstep.core.protocol.messages import Comparison
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.device_diff.device_choice import DeviceChoice
from gradstep.gui.panels.device_diff.device_diff_model import DiffModel, device_label
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Text, Wrapped

_WIDTHS = (32, 160, 128, 80, 216)
_DEVICE, _ERROR = 200, 80


class DeviceDiffPanel(Panel):
    """Emulated columns are hatched and say by which rule and source; measured ones name the
    device. The first node that differs is marked; a click selects the node."""

    title = "Device diff"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "device_diff")
        self.model = DiffModel()
        self.table = FlatTable(lambda: workspace.theme, self.model, "device_diff.table", _WIDTHS)
        self.table.setAccessibleName(self.title)
        self.remarks = Wrapped(lambda: workspace.theme, "device_diff.remarks", "muted")
        self.remarks.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        self.column.addLayout(self._head())
        self.column.addWidget(self.remarks)
        self.column.addWidget(self.table, 1)
        self.table.chosen.connect(self._select)
        workspace.compared.connect(self._show_comparisons)
        workspace.program_changed.connect(self.refresh)
        workspace.message.connect(self.refresh)  # a comparison that failed has said so there
        workspace.selection_changed.connect(self._follow_selection)
        workspace.devices_changed.connect(self._offer)
        workspace.document_changed.connect(self._offer_recorded)
        self._offer()
        self.refresh()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        self.run = QPushButton(self.tr("Compare"))
        self.run.setObjectName("device_diff.compare")
        self.run.setAccessibleName(self.tr("Compare the devices"))
        self.run.clicked.connect(self._compare)
        self.devices = DeviceChoice()
        self.devices.changed.connect(self._enable)
        self.summary = Text(lambda: self.theme, "muted")
        row.addWidget(self.run)
        row.addWidget(self.devices)
        row.addWidget(self.summary, 1)
        return row

    def _offer(self) -> None:
        self._recorded = self.workspace.document.recorded
        self.devices.offer(commands.comparable_devices(self.workspace), self.workspace.device)
        self._enable()
        self.refresh()

    def _offer_recorded(self, *_: object) -> None:
        """Another document was recorded elsewhere, or was not."""
        if self.workspace.document.recorded is not self._recorded:
            self._offer()

    def _enable(self) -> None:
        self.run.setEnabled(bool(self.devices.chosen) and self.workspace.program is not None)

    def _compare(self) -> None:
        self.summary.set_text(self.tr("comparing…"))
        commands.compare(self.workspace, self.devices.chosen)

    def refresh(self, *_: object) -> None:
        """Show the last comparison, or what a comparison would show."""
        self._enable()
        if not len(self.workspace.document.graph):
            self.show_empty(
                self.tr(
                    "The same graph on other devices, node by node, appears here. "
                    "Open a document first."
                )
            )
            return
        comparisons = self.workspace.comparisons
        self.model.show(comparisons)
        devices = len(comparisons)
        self.table.set_widths((*_WIDTHS, *[_DEVICE] * devices, _ERROR, _ERROR))
        self.table.setVisible(bool(comparisons))
        self.summary.set_text(_summary(comparisons))
        self.remarks.setText("\n".join(self._remarks(comparisons)))
        self.remarks.setVisible(bool(self.remarks.text()))
        self.column.setStretch(1, 0 if comparisons else 1)
        self._follow_selection()
        self.show_content()

    def _show_comparisons(self) -> None:
        """Another comparison: show what it is with, and the first node that differs."""
        comparisons = self.workspace.comparisons
        if comparisons:
            self.devices.follow([c.right for c in comparisons])
        self.refresh()
        first = next((c.first_divergence for c in comparisons if c.first_divergence), "")
        row = self.model.row_of(first)
        if row >= 0:
            middle = self.table.ScrollHint.PositionAtCenter
            self.table.scrollTo(self.model.index(row, 0), middle)

    def _remarks(self, comparisons: list[Comparison]) -> list[str]:
        """What comes of it, what is emulated and from which source, and what is dangerous; before a
        comparison, what it would say and what is missing for it."""
        if not comparisons:
            explained = self.tr(
                "Compare runs every node here and on the chosen devices. It tells the node that "
                "creates a difference from those that inherit it."
            )
            return [explained, *self._missing()]
        said = [f"{device_label(c.right)}: {c.text}" for c in comparisons]
        said += [
            f"{device_label(c.right)} is emulated: {c.source}"
            for c in comparisons
            if not c.measured
        ]
        said += [
            f"{device_label(name)}: {text}" for name, text in self.workspace.unavailable.items()
        ]
        return list(dict.fromkeys(said + [hazard for c in comparisons for hazard in c.hazards]))

    def _missing(self) -> list[str]:
        """Each reason for which devices are not there, once."""
        reasons: dict[str, list[str]] = {}
        for device in self.workspace.devices:
            if not device.available:
                reasons.setdefault(device.text, []).append(device_label(device.name))
        return [f"{', '.join(names)}: {text}" for text, names in reasons.items()]

    def _select(self, row: int) -> None:
        commands.reveal(self.workspace, self.model.rows[row].name)

    def _follow_selection(self) -> None:
        chosen = self.workspace.selection
        row = self.model.row_of(chosen[0]) if len(chosen) == 1 else -1
        if row >= 0 and row != self.table.currentIndex().row():
            self.table.selectRow(row)


def _summary(comparisons: list[Comparison]) -> str:
    return " · ".join(f"{device_label(c.right)}: {c.brief}" for c in comparisons)
