"""Sweeps: beginning one, opening its folder, and a run of it in the debugger."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.gui.model.workspace import Workspace

_OPENED = "opened"  # folder of the documents of runs


def ask_sweep(workspace: Workspace) -> None:
    """Ask what to vary."""
    workspace.view_requested.emit("sweep", "")


def start_sweep(workspace: Workspace, folder: Path, words: Sequence[str]) -> None:
    """Make a sweep of the open document into a new folder, and show it. words: as typed."""
    workspace.ask_window("show", "sweep")
    workspace.sweep.start(workspace.document, folder, words)


def go_on(workspace: Workspace) -> None:
    """Make the runs that are missing."""
    workspace.sweep.go_on()


def open_sweep(workspace: Workspace, window: QWidget) -> None:
    """Ask for a sweep's folder, and show it."""
    text = QFileDialog.getExistingDirectory(window, "Open a sweep's folder", _start(workspace))
    if text:
        workspace.sweep.open(Path(text))


def debug_run(workspace: Workspace, number: int) -> None:
    """Open the document with a run's settings, and train it to the run's end, exactly as it was
    trained there. Where rows were fed, its variables are those of the run's end."""
    sweep = workspace.sweep
    if sweep.folder is None or sweep.seen is None:
        return
    row = next((row for row in sweep.seen.rows if row.number == number), None)
    steps = 0 if row is None or sweep.seen.record.data else row.steps

    def opened(path: Path) -> None:
        if steps:
            _Waiting(workspace, path, steps)
        workspace.ask_window("open", str(path))

    workspace.background.run(partial(_written, sweep.folder, number), opened, workspace.complain)


def _written(folder: Path, number: int) -> Path:
    """The document of a run, in a file of its own. Raises GradstepError."""
    from gradstep.core.io.native import gradstep_file
    from gradstep.core.sweep.run_document import run_document
    from gradstep.core.sweep.sweep_folder import SweepFolder

    found = SweepFolder.find(folder)
    folder = (found.path / _OPENED).absolute()
    document = run_document(found, number)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise GradstepError(
            f"cannot write {folder}: {error.strerror}",
            kind="FileError",
            hint="copy the sweep's folder to where you can write",
        ) from None
    return _saved(folder, f"run-{number}", gradstep_file.to_bytes(document))


def _saved(folder: Path, name: str, data: bytes) -> Path:
    """A file with these bytes: one that is there, or a new one. What the user made of one that was
    opened before stays."""
    number = 1
    while True:
        path = folder / f"{name}{'' if number == 1 else f'-{number}'}.gradstep"
        if not path.exists():
            replace_file(path, data)
        if path.read_bytes() == data:
            return path
        number += 1


class _Waiting(QObject):
    """Trains once: when the document is open and its program there. Another document ends it."""

    def __init__(self, workspace: Workspace, path: Path, steps: int) -> None:
        super().__init__(workspace)
        self._workspace, self._path, self._steps = workspace, path, steps
        workspace.document_opened.connect(self._note_document)
        workspace.stopped.connect(self._train)

    def _note_document(self) -> None:
        if self._workspace.path == self._path:
            training = self._workspace.training  # a document with data would count epochs
            training.steps, training.by_epochs = self._steps, False
        else:
            self._end()

    def _train(self) -> None:
        space = self._workspace
        if space.path == self._path and space.program is not None:
            self._end()
            space.ask_window("show", "training")
            space.training.train()

    def _end(self) -> None:
        self._workspace.document_opened.disconnect(self._note_document)
        self._workspace.stopped.disconnect(self._train)
        self.deleteLater()


def _start(workspace: Workspace) -> str:
    folder = workspace.sweep.folder
    return "" if folder is None else str(folder.parent)
