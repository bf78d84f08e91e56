"""Recordings of devices as the window knows them: those of this document, and making one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.io.device_recordings import SUFFIX, is_recording
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    DeviceInfo,
    DeviceRecorded,
    Failed,
    Message,
    RecordDevice,
)
from gradstep.gui.model.background_work import Background

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

FOLDER = "recordings"  # beside a document, where its recordings may lie as well


class DeviceRecordings(QObject):
    """files: of the open document, those that the user chose first; then those beside its own file
    that are called as that is: `net.gradstep` has `net.gpu.gradrec`."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.files: tuple[Path, ...] = ()
        self._chosen: tuple[Path, ...] = ()
        self._path: Path | None = None
        self._workspace, self._background = workspace, Background(self)
        workspace.document_opened.connect(self._forget)
        workspace.file_changed.connect(self._look)

    @property
    def devices(self) -> list[DeviceInfo]:
        """Each as a device to compare with, called by its path."""
        return [
            DeviceInfo(name=str(path), kind="recorded", available=True, text=str(path.parent))
            for path in self.files
        ]

    @property
    def meant(self) -> str:
        """The one that the user chose, or opened; "" for none."""
        opened = [path for path in self.files if path == self._path and is_recording(path.name)]
        return next((str(path) for path in (*self._chosen, *opened)), "")

    def add(self, path: Path) -> None:
        """One that the user chose."""
        self._chosen = (path, *(each for each in self._chosen if each != path))
        self._take([each for each in self.files if each not in self._chosen])

    def compare(self, against: Sequence[str], go_on: bool = False) -> None:
        """With devices and recordings, which are read first."""
        files = [name for name in against if is_recording(name)]
        then = partial(self._compare, against, go_on)
        if files:
            read = partial(_read, files)
            self._background.run(read, then, self._workspace.complain)
        else:
            then({})

    def record(self, device: str, path: Path) -> None:
        """What a device gives for this document, into a file."""
        request = RecordDevice(left=self._workspace.device, device=device)

        def recorded(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, DeviceRecorded):
                self._write(path, bytes(buffers[0]))
            elif isinstance(reply, Failed):
                self._workspace.complain(reply.error)

        self._workspace.debugger.request(request, (), recorded)

    def _write(self, path: Path, data: bytes) -> None:
        def written(_: object) -> None:
            self._workspace.say(f"recorded into {path.name}")
            self.add(path)

        self._background.run(partial(replace_file, path, data), written, self._workspace.complain)

    def _compare(self, against: Sequence[str], go_on: bool, files: Mapping[str, bytes]) -> None:
        self._workspace.debugger.compare(against, go_on, files)

    def _forget(self) -> None:
        self._chosen, self._path = (), None
        self._look()

    def _look(self) -> None:
        """For those that lie beside the document."""
        path = self._workspace.read_from
        if path == self._path:
            return
        self._path = path
        if path is None:
            self._take([])
            return

        def found(files: list[Path]) -> None:
            if path == self._path:
                self._take(files)

        self._background.run(partial(_beside, path), found, lambda error: None)

    def _take(self, beside: Sequence[Path]) -> None:
        files = (*self._chosen, *(each for each in beside if each not in self._chosen))
        if files != self.files:
            self.files = files
            self.changed.emit()


def _beside(path: Path) -> list[Path]:
    """Recordings of the document at `path`, which may be one itself."""
    if is_recording(path.name):
        return [path]
    pattern = f"{path.stem}*{SUFFIX}"
    return sorted([*path.parent.glob(pattern), *(path.parent / FOLDER).glob(pattern)])


def _read(files: Sequence[str]) -> dict[str, bytes]:
    """Raises GradstepError."""
    return {name: read_file(name) for name in files}
