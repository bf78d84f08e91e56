"""The menu bar. Its titles stand there before there are actions to fill it with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QMenu, QMenuBar

from gradstep.gui.actions.menu_titles import MENUS
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import BODY, mono, sans

if TYPE_CHECKING:
    from gradstep.gui.actions.action_set import ActionSet

HEIGHT = 26  # pixels


class MenuBar(QMenuBar):
    """The program's name at the left, the document's at the right, the menus between them."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("menu_bar")
        self.setNativeMenuBar(False)
        self._title = self._corner("menu_bar.title", Qt.Corner.TopLeftCorner, (12, 8))
        self._title.setFont(sans(strong=True))
        self._title.setText("Gradstep")
        self.name = self._corner("document_name", Qt.Corner.TopRightCorner, (8, 16))
        self.name.setFont(mono(BODY - 1))
        self.name.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._menus = {title: self.addMenu(title) for title in MENUS}
        for title, menu in self._menus.items():
            menu.setObjectName(f"menu.{title.lower()}")
            menu.setToolTipsVisible(True)

    def fill(self, actions: ActionSet) -> None:
        """Every action into its menu, in sections."""
        sections: dict[str, int] = {}
        for row, action in actions:
            if row.menu:
                menu = self._menus[row.menu]
                if sections.setdefault(row.menu, row.section) != row.section:
                    menu.addSeparator()
                sections[row.menu] = row.section
                menu.addAction(action)

    def add_late(
        self, menu: str, title: str, fill: Callable[[QMenu], None], after: str = ""
    ) -> None:
        """A submenu that is filled each time it opens; at the end, or after an action."""
        submenu = QMenu(title, self._menus[menu])
        submenu.setObjectName(f"menu.{menu}.{title}".lower())
        rows = self._menus[menu].actions()
        place = next((i + 1 for i, row in enumerate(rows) if row.objectName() == after), len(rows))
        self._menus[menu].insertMenu(rows[place] if place < len(rows) else None, submenu)  # type: ignore[arg-type]

        def show() -> None:
            submenu.clear()
            fill(submenu)

        submenu.aboutToShow.connect(show)

    def show_name(self, name: str, changed: bool = False) -> None:
        """The document's name in the corner, with a mark while it is not saved. There is room for
        the mark from the start: another size would lay out the whole window anew."""
        self.name.setText(f"{name} •" if name else "")
        room = self.name.sizeHint().expandedTo(QSize(0, HEIGHT))
        if not changed:
            self.name.setText(name)
        if room != self.name.size():
            self.name.setFixedSize(room)
            self.setCornerWidget(self.name, Qt.Corner.TopRightCorner)

    def _corner(self, name: str, corner: Qt.Corner, margins: tuple[int, int]) -> QLabel:
        label = Label(parent=self)
        label.setObjectName(name)
        label.setContentsMargins(margins[0], 0, margins[1], 0)
        label.setMinimumHeight(HEIGHT)
        self.setCornerWidget(label, corner)
        return label
