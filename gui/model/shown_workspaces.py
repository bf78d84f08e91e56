"""The windows of this program, and the workspaces that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

from shiboken6 import isValid

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace


class ShowingWindow(Protocol):
    """What of a window has to be known here."""

    workspace: Workspace

    def isVisible(self) -> bool: ...


_known: WeakSet[ShowingWindow] = WeakSet()


def add(window: ShowingWindow) -> None:
    """Have others find what a window shows, as long as it is on the screen."""
    _known.add(window)


def windows() -> list[ShowingWindow]:
    """Those that were added, and are there still."""
    return [window for window in _known if isValid(window)]


def others(workspace: Workspace) -> list[Workspace]:
    """What the other windows show, where they show a document; by its name."""
    shown = [window.workspace for window in windows() if window.isVisible()]
    found = [w for w in shown if w is not workspace and w.is_open]
    return sorted(found, key=lambda w: w.name)
