"""Qt's objects taken away at the end of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from shiboken6 import isValid

if TYPE_CHECKING:
    from gradstep.gui.frame.main_window import MainWindow


def delete(*objects: QObject) -> None:
    """Delete them now. One that lives on holds what its signals are connected to, and the collector
    cannot see that: after a thousand tests it is gigabytes, and each collection takes a second."""
    for each in objects:
        if isValid(each):
            each.deleteLater()
            QCoreApplication.sendPostedEvents(each, QEvent.Type.DeferredDelete)


def end(window: MainWindow) -> None:
    """Close a window without a question, and take it away with its workspace."""
    window.discard()
    delete(window, window.workspace)
