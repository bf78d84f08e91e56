"""The menu bar, made from the table of actions, and the menus whose rows depend on the machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu, QMenuBar

from gui import commands
from gui.action_set import ActionSet
from gui.actions import MENUS
from gui.docks import Docks
from gui.settings import settings
from gui.status_bar import size_words
from gui.theme import BODY, mono, sans
from gui.toolbar import device_words
from gui.workspace import Workspace

LIMITS = (256 << 20, 1 << 30, 2 << 30, 8 << 30)  # bytes of recorded runs
HEIGHT = 26  # pixels


class MenuBar(QMenuBar):
    """The program's name at the left, the document's at the right, the menus between them."""

    def __init__(self, workspace: Workspace, actions: ActionSet, docks: Docks) -> None:
        super().__init__()
        self.setObjectName("menu_bar")
        self.setNativeMenuBar(False)
        self._workspace, self._docks = workspace, docks
        self._title = self._corner("menu_bar.title", Qt.Corner.TopLeftCorner, (12, 8))
        self._title.setFont(sans(strong=True))
        self._title.setText("Gradstep")
        self.name = self._corner("document_name", Qt.Corner.TopRightCorner, (8, 16))
        self.name.setFont(mono(BODY - 1))
        self._menus = {title: self.addMenu(title) for title in MENUS}
        for title, menu in self._menus.items():
            menu.setObjectName(f"menu.{title.lower()}")
            menu.setToolTipsVisible(True)
            self._fill(menu, actions, title)
        self._recent = self._late("File", "Open recent", self._list_recent, after="file.open")
        self._panels = self._late("View", "Panels", self._list_panels, after="view.reset_layout")
        self._keep = self._late("Run", "Keep recorded", self._list_limits)
        self._run_on = self._late("Devices", "Run on", self._list_devices)
        self._compare_with = self._late("Devices", "Compare with", self._list_comparable)

    def _fill(self, menu: QMenu, actions: ActionSet, title: str) -> None:
        section = 0
        for row, action in actions:
            if row.menu == title:
                if row.section != section:
                    menu.addSeparator()
                section = row.section
                menu.addAction(action)

    def show_name(self, text: str) -> None:
        """The document's name, and room for it in the corner."""
        self.name.setText(text)
        self.name.adjustSize()
        self.setCornerWidget(self.name, Qt.Corner.TopRightCorner)

    def _corner(self, name: str, corner: Qt.Corner, margins: tuple[int, int]) -> QLabel:
        label = QLabel(self)
        label.setObjectName(name)
        label.setContentsMargins(margins[0], 0, margins[1], 0)
        label.setMinimumHeight(HEIGHT)
        self.setCornerWidget(label, corner)
        return label

    def _late(self, menu: str, title: str, fill: Callable[[QMenu], None], after: str = "") -> QMenu:
        """A submenu that is filled each time it opens."""
        submenu = QMenu(title, self._menus[menu])
        rows = self._menus[menu].actions()
        place = next((i + 1 for i, row in enumerate(rows) if row.objectName() == after), len(rows))
        self._menus[menu].insertMenu(rows[place] if place < len(rows) else None, submenu)  # type: ignore[arg-type]

        def show() -> None:
            submenu.clear()
            fill(submenu)

        submenu.aboutToShow.connect(show)
        return submenu

    def _list_recent(self, menu: QMenu) -> None:
        for path in settings().recent:
            action = menu.addAction(path.name)
            action.setToolTip(str(path))
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
            row.setToolTip(device.text)
            row.triggered.connect(
                lambda _=False, name=device.name: commands.use_device(self._workspace, name)
            )
        _or_nothing(menu, "the engine has not answered yet")

    def _list_comparable(self, menu: QMenu) -> None:
        for device in self._workspace.devices:
            if device.name != self._workspace.device:
                row = self._device_row(menu, device.name, device.name == settings().compare_with)
                row.setEnabled(device.available)
                row.setToolTip(device.source or device.text)
                row.triggered.connect(lambda _=False, name=device.name: self._compare(name))
        _or_nothing(menu, "the engine has not answered yet")

    def _compare(self, device: str) -> None:
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
