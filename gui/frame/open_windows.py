"""The windows that are open: each has a graph, an engine process and sessions of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt

from gradstep.gui.frame.window_placement import place_beside
from gradstep.gui.model import shown_workspaces

if TYPE_CHECKING:
    from gradstep.gui.frame.main_window import MainWindow

_kept: dict[int, MainWindow] = {}  # what was opened from another window, which may close first


def keep_all() -> None:
    """Have the unsaved work of every window on disk."""
    for window in _furnished():
        window.autosave.save_now()


def end_all() -> None:
    """End every window without a question; unsaved work is left for the next start to offer."""
    for window in _furnished():
        window.end()


def _furnished() -> list[MainWindow]:
    there = cast("list[MainWindow]", shown_workspaces.windows())  # no others are added
    return [window for window in there if window.is_furnished]


def show_beside(new: MainWindow, window: MainWindow) -> None:
    """Show one that was made from another, which may close first."""
    new.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    number = id(new)
    _kept[number] = new
    new.destroyed.connect(lambda: _kept.pop(number, None))
    place_beside(new, window)
    new.show()
