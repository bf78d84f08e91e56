"""Entries of the canvas's context menu, and the menu that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import plain, without_mnemonic
from gradstep.gui.look.theme import Theme


@dataclass(frozen=True)
class Item:
    """One entry. need: what is in the way of it, "" for nothing; a `title` alone is a heading.
    items: those of a menu of its own, instead of something to run."""

    id: str
    title: str = ""
    run: Callable[[], object] | None = None
    tip: str = ""
    need: str = ""
    icon: str = ""
    key: str = ""
    items: tuple[Item, ...] = ()


SEPARATOR = Item("")


def heading(text: str) -> Item:
    return Item("menu.heading", text)


def fill(menu: QMenu, items: Sequence[Item], theme: Theme) -> None:
    """Add items to a menu, and to those that open beside it."""
    menu.setToolTipsVisible(True)
    for item in items:
        if item is SEPARATOR:
            menu.addSeparator()
        elif item.items:
            fill(menu.addMenu(item.title), item.items, theme)
        else:
            menu.addAction(_action(menu, item, theme))


def _action(menu: QMenu, item: Item, theme: Theme) -> QAction:
    action = QAction(without_mnemonic(item.title), menu)
    action.setObjectName(item.id)
    action.setEnabled(item.run is not None and not item.need)
    tip = [item.tip, *([f"Not now: {item.need}"] if item.need else [])]
    action.setToolTip(plain("\n".join(filter(None, tip)) or item.title))
    if item.icon:
        action.setIcon(icons.icon(item.icon, theme))
    if item.key:
        action.setShortcut(QKeySequence(item.key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setShortcutVisibleInContextMenu(True)
    if item.run is not None:
        action.triggered.connect(lambda _=False, run=item.run: run())
    return action
