"""Submenus whose rows depend on the machine and on what was done: filled when they open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from gradstep.core.io.device_recordings import is_recording
from gradstep.core.protocol.device_names import RECORDED_DEVICE
from gradstep.gui import commands
from gradstep.gui.frame.docks import Docks
from gradstep.gui.frame.menus import MenuBar
from gradstep.gui.frame.status_bar import size_words
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.plain_text import add_row, plain
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace

LIMITS = (256 << 20, 1 << 30, 2 << 30, 8 << 30)  # bytes of recorded runs


class LateMenus:
    """Recent files, panels, how much is recorded, devices."""

    def __init__(self, bar: MenuBar, workspace: Workspace, docks: Docks) -> None:
        self._workspace, self._docks = workspace, docks
        bar.add_late("File", "Open recent", self._list_recent, after="file.open")
        bar.add_late("View", "Panels", self._list_panels, after="view.reset_layout")
        bar.add_late("Run", "Keep recorded", self._list_limits)
        bar.add_late("Devices", "Run on", self._list_devices)
        bar.add_late("Devices", "Compare with", self._list_comparable)

    def _list_recent(self, menu: QMenu) -> None:
        for path in settings().recent:
            action = add_row(menu, path.name)
            action.setToolTip(plain(str(path)))
            action.triggered.connect(lambda _=False, path=path: self._open(path))
        _or_nothing(menu, "no files yet")

    def _open(self, path: Path) -> None:
        commands.open_path(self._workspace, path)

    def _list_panels(self, menu: QMenu) -> None:
        for dock in self._docks.by_id.values():
            menu.addAction(dock.toggleViewAction())

    def _list_limits(self, menu: QMenu) -> None:
        for limit in LIMITS:
            row = menu.addAction(f"up to {size_words(limit)}")
            row.setCheckable(True)
            row.setChecked(limit == settings().recording_limit)
            row.triggered.connect(lambda _=False, limit=limit: self._keep_recorded(limit))

    def _keep_recorded(self, limit: int) -> None:
        commands.keep_recorded(self._workspace, limit)

    def _list_devices(self, menu: QMenu) -> None:
        for device in self._workspace.devices:
            row = self._device_row(menu, device.name, device.name == self._workspace.device)
            row.setEnabled(device.available)
            row.setToolTip(plain(device.text))
            row.triggered.connect(
                lambda _=False, name=device.name: commands.use_device(self._workspace, name)
            )
        _or_nothing(menu, "the engine has not answered yet")

    def _list_comparable(self, menu: QMenu) -> None:
        for device in commands.comparable_devices(self._workspace):
            if device.name != self._workspace.device:
                chosen = commands.device_to_compare_with(self._workspace)
                row = self._device_row(menu, device.name, device.name == chosen)
                row.setEnabled(device.available)
                row.setToolTip(plain(device.source or device.text))
                row.triggered.connect(lambda _=False, name=device.name: self._compare(name))
        _or_nothing(menu, "the engine has not answered yet")

    def _compare(self, device: str) -> None:
        if device != RECORDED_DEVICE and not is_recording(device):  # which others do not have
            settings().compare_with = device
        self._workspace.devices_changed.emit()
        commands.compare(self._workspace, [device])

    def _device_row(self, menu: QMenu, name: str, checked: bool) -> QAction:
        row = menu.addAction(device_words(name))
        row.setCheckable(True)
        row.setChecked(checked)
        return row


def _or_nothing(menu: QMenu, why: str) -> None:
    if not menu.actions():
        menu.addAction(why).setEnabled(False)
