"""Asking for a file to open or to save.

Every dialog starts where the user was last with the like, and nowhere by chance: never in the
folder that the program was started in.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from gradstep.gui.model.settings import settings

Complete = Callable[[Path, str], Path]  # given the line of the filter that was chosen


def ask_open(window: QWidget, kind: str, title: str, filter: str) -> Path | None:
    """A file to be read; None if the user changes their mind. kind: of folder; see start_folder."""
    text, _ = QFileDialog.getOpenFileName(window, title, str(start_folder(kind)), filter)
    return _chosen(kind, text)


def ask_folder(window: QWidget, kind: str, title: str) -> Path | None:
    """The same for a folder to be read."""
    return _chosen(kind, QFileDialog.getExistingDirectory(window, title, str(start_folder(kind))))


def ask_save(
    window: QWidget, kind: str, title: str, file: Path, filter: str, complete: Complete
) -> Path | None:
    """A file to be written. file: what is suggested; a name alone is put into the kind's folder.
    complete: gives a name that was typed its suffix. Where that is another file, which is there
    already, the dialog comes again with it, and asks whether to replace it."""
    place = file if file.is_absolute() else start_folder(kind) / file
    while True:
        text, line = QFileDialog.getSaveFileName(window, title, str(place), filter)
        typed = _chosen(kind, text)
        if typed is None:
            return None
        place = complete(typed, line)
        if place == typed or not place.exists():
            return place


def start_folder(kind: str) -> Path:
    """Where the user was last with this kind of file ("open", "save", "export"…), or else with any;
    at first the desktop's folder for documents."""
    found = (Path(text) for text in settings().folders(kind))
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    places = (*found, Path(documents)) if documents else tuple(found)
    return next((place for place in places if place.is_dir()), Path.home())


def remember_folder(kind: str, file: Path) -> None:
    """The user was where `file` is."""
    settings().add_folder(kind, str(file.absolute().parent))


def _chosen(kind: str, text: str) -> Path | None:
    if not text:
        return None
    path = Path(text)
    remember_folder(kind, path)
    return path
