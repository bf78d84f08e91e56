"""On which device the selected operations run."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtWidgets import QComboBox, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.graph.placed_devices import placed_on
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.device_text import device_words
from gradstep.gui.model.error_words import words
from gradstep.gui.model.selection import selected_units
from gradstep.gui.model.workspace import Workspace


class PlaceDialog(Dialog):
    """One field: the device of the run, or another one that is there."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "place_dialog", "Device", parent)
        units = selected_units(workspace)
        name = units[0].rstrip("/") if len(units) == 1 else _count(units)
        self.add_text(f"Which device computes {name}?")
        self.device = QComboBox()
        self.device.setObjectName("place_dialog.device")
        self.device.setAccessibleName("Device")
        self._names = ["", *(d.name for d in workspace.devices if d.available)]
        now = _devices_of(workspace)
        self._names += sorted(now - {*self._names})  # one that is not here
        for each in self._names:
            self.device.addItem(device_words(each) if each else _of_run(workspace))
        self.device.setCurrentIndex(self._names.index(min(now)) if len(now) == 1 else 0)
        self.column.addWidget(self.device)
        self.add_text(
            "What it reads is sent there, once in a run, and what it makes comes back, for every "
            "value is kept on the device of the run. Its gradient is computed there, too.",
            "muted",
        )
        self.column.addStretch(1)
        self.add_buttons("Apply")
        self.resize(440, 208)
        self.device.setFocus()

    def apply(self) -> str:
        try:
            commands.place_selected(self.workspace, self._names[self.device.currentIndex()])
        except GradstepError as error:
            return words(error)
        return ""


def _count(units: Collection[str]) -> str:
    """ "3 nodes", "2 nodes and 1 scope"."""
    scopes = sum(unit.endswith("/") for unit in units)
    counts = ((len(units) - scopes, "node"), (scopes, "scope"))
    return " and ".join(count_of(n, noun) for n, noun in counts if n)


def _of_run(workspace: Workspace) -> str:
    return f"That of the run: {device_words(workspace.device)}"


def _devices_of(workspace: Workspace) -> set[str]:
    """Those of the selected operations."""
    graph = workspace.shown  # with what is in loops
    return {placed_on(graph[name]) for name in workspace.selection if name in graph}
