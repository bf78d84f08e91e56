"""Notices when another program changes, replaces or deletes the file that is open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QFileSystemWatcher, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from gradstep.core.io.disk.file_stamp import OnDisk, look
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.workspace import Workspace

SOON = 200  # milliseconds of quiet after a change: editors write in several steps


class FileWatch(QObject):
    """Looks when the system tells of a change in the file or its folder (the file may have been
    replaced by another one of its name), and when the window comes to the front: not every file
    system tells."""

    found = Signal(object)  # OnDisk, which is not workspace.disk; None where it is

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._background = Background(self)
        self._watcher = QFileSystemWatcher(self)
        self._soon = QTimer(self, singleShot=True, interval=SOON)
        self._soon.timeout.connect(self.look)
        self._watcher.fileChanged.connect(self._soon.start)
        self._watcher.directoryChanged.connect(self._soon.start)
        self._path: Path | None = None
        workspace.file_changed.connect(self._follow)
        window.installEventFilter(self)

    def look(self) -> None:
        """See what the file holds now; `found` follows."""
        path, known = self._workspace.path, self._workspace.disk
        if path is None or known is None or self._workspace.is_saving:
            return
        self._arm()
        self._background.run(
            lambda: look(path, known), lambda now: self._compare(path, known, now), lambda _: None
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate and self._path is not None:
            self._soon.start()
        return False

    def _compare(self, path: Path, known: OnDisk, now: OnDisk) -> None:
        """known: what it held when it was looked at; what was written or read since is another."""
        workspace = self._workspace
        if path == workspace.path and known is workspace.disk and not workspace.is_saving:
            workspace.notice_file(now)
            self.found.emit(workspace.found_on_disk)

    def _follow(self) -> None:
        """Another file is open, or what it holds is known anew."""
        path = self._workspace.path
        if path != self._path:
            self._path = path
            watched = [*self._watcher.files(), *self._watcher.directories()]
            if watched:
                self._watcher.removePaths(watched)
            self.found.emit(None)
        if path is not None:
            self._soon.start()

    def _arm(self) -> None:
        """A file that was replaced or deleted is not watched any more."""
        if self._path is not None:
            wanted = {str(self._path), str(self._path.parent)}
            missing = wanted - {*self._watcher.files(), *self._watcher.directories()}
            there = [path for path in missing if Path(path).exists()]
            if there:
                self._watcher.addPaths(there)
