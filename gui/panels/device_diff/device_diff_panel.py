"""The device panel: the same graph on several devices, node by node, forward and backward."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QStackedWidget, QWidget

from gradstep.core.io.device_recordings import SUFFIX, is_recording
from gradstep.core.protocol.device_names import RECORDED_DEVICE
from gradstep.core.protocol.messages import Comparison, FindSmallest
from gradstep.gui import commands
from gradstep.gui.dialogs.file_choice import ask_open, ask_save
from gradstep.gui.dialogs.file_filters import recording_filter, with_recording_suffix
from gradstep.gui.look.device_text import device_label
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.device_diff.device_choice import DeviceChoice
from gradstep.gui.panels.device_diff.device_diff_model import DiffModel, Fold, device_of
from gradstep.gui.panels.device_diff.device_verdicts import verdicts
from gradstep.gui.panels.device_diff.node_pane import NodePane
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.sentence_pane import Said, SentencePane
from gradstep.gui.panels.widgets.small_labels import Link, Text

_WIDTHS = (32, 128, 96, 136)
_NODE, _VALUE = 1, 3  # columns; behind them one for each device
_DEVICE, _MEASURES = 136, (72, 72, 72, 72, 64, 240, 80)
_DIFFERENCE = "difference"  # what the canvas is coloured by
_SIDE = 320  # of the verdict at first


class DeviceDiffPanel(Panel):
    """What comes of it, in sentences, and the table. Emulated columns are hatched and say by which
    rule and source; measured ones name the device. The first node that differs is marked; a click
    selects the node, and shows where its results are apart."""

    title = "Device diff"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "device_diff")
        self.model = DiffModel()
        self._shown: list[Comparison] | None = None
        self.table = FlatTable(lambda: workspace.theme, self.model, "device_diff.table", _WIDTHS)
        self.table.setAccessibleName(self.title)
        self.verdict, self.node = (
            SentencePane(lambda: workspace.theme, "device_diff"),
            NodePane(lambda: workspace.theme),
        )
        self.column.addLayout(self._head())
        self.column.addWidget(self._body(), 1)
        self.table.chosen.connect(self._select)
        workspace.compared.connect(self._show_comparisons)
        # A comparison that failed has said so in a message.
        self.follow(self.refresh, workspace.program_changed, workspace.message)
        workspace.selection_changed.connect(self._follow_selection)
        workspace.profiler.changed.connect(self._note_colour)
        workspace.devices_changed.connect(self._offer)
        workspace.recordings.changed.connect(self._offer)
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
        self.devices.adding.connect(self._add_recording)
        self.summary = Text(lambda: self.theme, "muted")
        self.every = Check(lambda: self.theme, "", "device_diff.every")
        self.every.toggled.connect(self._unfold)
        self.back = Link(lambda: self.theme, self.tr("Verdict"), "device_diff.back")
        self.back.clicked.connect(lambda: self._look_at(self.verdict))
        row.addWidget(self.run)
        row.addWidget(self.devices)
        row.addWidget(self.summary, 1)
        self.tint = Check(lambda: self.theme, self.tr("on canvas"), "device_diff.tint")
        self.tint.setToolTip(plain(self.tr("Tint the nodes by how far they differ")))
        self.tint.clicked.connect(lambda: commands.colour_by(self.workspace, _DIFFERENCE))
        self.go_on = Link(lambda: self.theme, self.tr("Go on"), "device_diff.go_on")
        tip = self.tr("Past what fails on one device, with the result that the other gives")
        self.go_on.setToolTip(plain(tip))
        self.go_on.clicked.connect(self._go_on)
        self.record = Link(lambda: self.theme, self.tr("Record…"), "device_diff.record")
        tip = self.tr("Keep what the device gives, for who does not have it: a .gradrec file")
        self.record.setToolTip(plain(tip))
        self.record.clicked.connect(self._record)
        self.smallest = Link(lambda: self.theme, commands.SMALLEST, "device_diff.smallest")
        tip = self.tr("The few operations that show the chosen difference, or the first")
        self.smallest.setToolTip(plain(tip))
        self.smallest.clicked.connect(self._ask_smallest)
        row.addWidget(self.go_on)
        row.addWidget(self.record)
        row.addWidget(self.smallest)
        row.addWidget(self.back)
        row.addWidget(self.tint)
        row.addWidget(self.every)
        return row

    def _body(self) -> QSplitter:
        """The verdict, or a chosen node, beside the table."""
        self.side = QStackedWidget()
        for pane in (self.verdict, self.node):
            self.side.addWidget(scroll_area(pane))
        body = QSplitter(Qt.Orientation.Horizontal)
        body.setObjectName("device_diff.body")
        body.setChildrenCollapsible(False)
        body.setHandleWidth(1)
        body.addWidget(self.side)
        body.addWidget(self.table)
        body.setStretchFactor(1, 1)
        body.setSizes([_SIDE, 2 * _SIDE])
        return body

    def _look_at(self, pane: QWidget) -> None:
        self.side.setCurrentIndex(0 if pane is self.verdict else 1)
        self.back.setVisible(pane is self.node)

    def _note_colour(self) -> None:
        self.tint.setChecked(self.workspace.profiler.colouring == _DIFFERENCE)

    def _colour(self, comparisons: list[Comparison]) -> None:
        """Tint the canvas while there is something that differs, and it says nothing else."""
        colouring = self.workspace.profiler.colouring
        differs = any(node.differs for c in comparisons for node in c.nodes)
        if (differs and not colouring) or (not comparisons and colouring == _DIFFERENCE):
            self.workspace.profiler.colour_by(_DIFFERENCE if comparisons else "")

    def _unfold(self, every: bool) -> None:
        self.model.unfold(every)
        self._follow_selection()

    def _offer(self) -> None:
        self._recorded = self.workspace.document.recorded
        space = self.workspace
        devices = commands.comparable_devices(space)
        recorded = RECORDED_DEVICE if self._recorded is not None else ""
        self.devices.offer(devices, space.device, space.recordings.meant or recorded)
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

    def _go_on(self) -> None:
        """Compare with the same devices again, past what fails on one of two."""
        commands.compare(self.workspace, [*map(device_of, self.workspace.comparisons)], True)

    def _add_recording(self) -> None:
        filters = f"{recording_filter()};;All files (*)"
        path = ask_open(self.window(), "recording", self.tr("Add a recording"), filters)
        if path is not None:
            commands.add_recording(self.workspace, path)

    def _record(self) -> None:
        """What the device that was compared with gives, into a file."""
        device = device_of(self.workspace.comparisons[0])
        start = self.workspace.path or Path(self.workspace.name)
        file = start.with_suffix(f".{device.replace(':', '-')}{SUFFIX}")
        title = self.tr("Record {}").format(device_label(device))
        path = ask_save(
            self.window(), "recording", title, file, recording_filter(), with_recording_suffix
        )
        if path is not None:
            commands.record_device(self.workspace, device, path)

    def _can_be_smaller(self, comparison: Comparison) -> bool:
        """Whether there is a difference, to what can be compared with again."""
        device = device_of(comparison)
        names = {each.name for each in self.workspace.devices}
        there = is_recording(device) or (_is_here(comparison) and device in names)
        return there and comparison.first_divergence is not None

    def _ask_smallest(self) -> None:
        """Of the chosen node, if it makes a difference by itself; else of the first that does."""
        found = self.workspace.comparisons[0]
        chosen = {*self.workspace.selection}
        node = next((n.name for n in found.nodes if n.creates and n.name in chosen), "")
        asked = FindSmallest(left=found.left, against=device_of(found), node=node)
        commands.ask_smallest(self.workspace, asked)

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
        self.table.set_widths((*_WIDTHS, *[_DEVICE] * len(comparisons), *_MEASURES))
        values = range(_VALUE, _VALUE + 1 + len(comparisons))
        self.table.share_rest((_NODE, *values), _DEVICE)
        self.table.setVisible(bool(comparisons))
        same = self.model.same
        self.every.setText(self.tr("{} equal").format(same))
        self.every.setAccessibleName(self.tr("Show the nodes that are equal, too"))
        self.every.setVisible(bool(same))
        self.tint.setVisible(bool(comparisons))
        self.go_on.setVisible(any(map(_stands, comparisons)))
        alone = len(comparisons) == 1 and _is_here(comparisons[0])
        self.record.setVisible(alone)
        lone = comparisons[0] if len(comparisons) == 1 else None
        self.smallest.setVisible(lone is not None and self._can_be_smaller(lone))
        self.every.updateGeometry()
        self.summary.set_text(_summary(comparisons))
        self.verdict.say(self._said(comparisons))
        if comparisons is not self._shown:
            self._shown = comparisons
            self._look_at(self.verdict)
        self._follow_selection()
        self.show_content()

    def _show_comparisons(self) -> None:
        """Another comparison: show what it is with, and the first node that differs."""
        comparisons = self.workspace.comparisons
        if comparisons:
            self.devices.follow([*map(device_of, comparisons)])
        self._colour(comparisons)
        self.refresh()
        first = next((c.first_divergence for c in comparisons if c.first_divergence), "")
        row = self.model.row_of(first)
        if row >= 0:
            middle = self.table.ScrollHint.PositionAtCenter
            self.table.scrollTo(self.model.index(row, 0), middle)
            self.table.horizontalScrollBar().setValue(0)

    def _said(self, comparisons: list[Comparison]) -> list[Said]:
        """What comes of it; before a comparison, what it would say and what is missing for it."""
        if comparisons:
            return verdicts(comparisons, self.workspace.unavailable)
        explained = self.tr(
            "Compare runs every node here and on the chosen devices. It tells the node that "
            "creates a difference from those that inherit it."
        )
        unavailable = verdicts((), self.workspace.unavailable)
        texts = [explained, *self._missing()]
        return [("", "", [(text, "muted") for text in texts]), *unavailable]

    def _missing(self) -> list[str]:
        """Each reason for which devices are not there, once."""
        reasons: dict[str, list[str]] = {}
        for device in self.workspace.devices:
            if not device.available:
                reasons.setdefault(device.text, []).append(device_label(device.name))
        return [f"{', '.join(names)}: {text}" for text, names in reasons.items()]

    def _select(self, row: int) -> None:
        """Show a node, here and everywhere; of nodes that are folded, all."""
        item = self.model.rows[row]
        if isinstance(item, Fold):
            self.every.setChecked(True)
            self.table.scrollTo(self.model.index(self.model.row_of(item.rows[0].name), 0))
            return
        device, node = item.worst
        left = self.workspace.comparisons[0].left
        self.node.show_node(node, device_label(left), device_label(device))
        self._look_at(self.node)
        commands.reveal(self.workspace, item.name)

    def _follow_selection(self) -> None:
        chosen = self.workspace.selection
        row = self.model.row_of(chosen[0]) if len(chosen) == 1 else -1
        if row >= 0 and row != self.table.currentIndex().row():
            self.table.selectRow(row)


def _stands(comparison: Comparison) -> bool:
    """Whether something fails on one side, and what needs it was not compared."""
    nodes = comparison.nodes
    fails = any(node.differs and node.verdict == "raises" for node in nodes)
    return fails and any(node.verdict == "unavailable" for node in nodes)


def _is_here(comparison: Comparison) -> bool:
    """Whether the device is one of this machine, and no recording."""
    device = device_of(comparison)
    return device != RECORDED_DEVICE and not is_recording(device)


def _summary(comparisons: list[Comparison]) -> str:
    return " · ".join(f"{device_label(c.right)}: {c.brief}" for c in comparisons)
