"""The menu of devices to compare with: measured and emulated ones, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton

from gradstep.core.protocol.device_names import RECORDED_DEVICE
from gradstep.core.protocol.messages import DeviceInfo
from gradstep.gui.look.device_text import device_label
from gradstep.gui.look.plain_text import plain

_GROUPS = (
    (RECORDED_DEVICE, "recorded elsewhere"),
    ("torch", "measured here, by PyTorch"),
    ("gpu", "measured here"),
    ("cpu", "this processor"),
    ("emulated", "emulated by rule"),
)
ACTION = "device_diff.device."
FIRST_CHOICE = (RECORDED_DEVICE, "gpu", "emulate:tf-gpu")  # the first of them that there is


class DeviceChoice(QPushButton):
    """A button with a menu of check marks. changed(): the user chose others; adding(): they want
    to add a recording."""

    changed = Signal()
    adding = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("device_diff.devices")
        self.setAccessibleName(self.tr("Devices to compare with"))
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)
        self.chosen: list[str] = []
        self._known: set[str] = set()

    def offer(self, devices: Sequence[DeviceInfo], running: str, meant: str) -> None:
        """All devices but the one that runs; those that are missing are greyed, with the reason.
        meant: what the document was opened, or a recording added, for; "" for nothing."""
        self._menu.clear()
        known = {d.name for d in devices if d.available}
        if meant in known - self._known:
            self.chosen = [meant]
        self._known = known
        self.chosen = [name for name in self.chosen if name in known and name != running]
        if not self.chosen:
            self.chosen.extend([name for name in FIRST_CHOICE if name in known][:1])
        for kind, title in _GROUPS:
            members = [d for d in devices if d.kind == kind and d.name != running]
            if members:
                self._menu.addSection(title)
            for device in members:
                self._add(device)
        self._menu.addSeparator()
        add = self._menu.addAction(self.tr("Add a recording…"))
        add.setObjectName("device_diff.add")
        add.setToolTip(plain(self.tr("What a device gave elsewhere, as a .gradrec file")))
        add.triggered.connect(self.adding)
        self._say()

    def follow(self, names: Sequence[str]) -> None:
        """Tick the devices that were compared with, from wherever that was asked for."""
        for action in self._menu.actions():
            if action.isCheckable():
                action.setChecked(action.objectName().removeprefix(ACTION) in names)

    def _add(self, device: DeviceInfo) -> None:
        text = f"{device_label(device.name)}   {device.text}"
        action = self._menu.addAction(text)
        action.setObjectName(f"{ACTION}{device.name}")
        action.setCheckable(True)
        action.setEnabled(device.available)
        action.setChecked(device.name in self.chosen)
        action.setToolTip(plain(device.source or device.text))
        action.toggled.connect(lambda on, name=device.name: self._toggle(name, on))

    def _toggle(self, name: str, on: bool) -> None:
        self.chosen = [n for n in self.chosen if n != name] + ([name] if on else [])
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        names = ", ".join(device_label(name) for name in self.chosen)
        self.setText(self.tr("with {}").format(names) if names else self.tr("choose devices"))
