"""A sweep as the window sees it: a folder that is read again and again while it is being made."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.sweep.run_list import varied
from gradstep.core.sweep.sweep_folder import SweepFolder
from gradstep.core.sweep.sweep_records import RunRow, SweepRecord, best_of
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.sweep_process import SweepProcess

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

_INTERVAL = 400  # milliseconds between two looks at the folder
SHOWN = 8  # curves of runs of which nobody chose any
MOST = 24  # curves at most


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a folder held at one time. running: run -> the last step that is known of it. curves:
    run -> [points, 2], of those that were asked for."""

    record: SweepRecord
    rows: Sequence[RunRow]
    running: Mapping[int, int] = field(default_factory=dict)
    curves: Mapping[int, np.ndarray] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The settings that differ from run to run."""
        return varied(self.record.runs)

    @property
    def has_seeds(self) -> bool:
        return any(run.seed is not None for run in self.record.runs)

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing left to be made."""
        return sum(row.is_final for row in self.rows) == len(self.record.runs)

    @property
    def best(self) -> RunRow | None:
        return best_of([*self.rows])


class Sweep(QObject):
    """folder: the one that is shown; None for none. seen: what it held; busy: its runs are being
    made. failure: why that did not go on; chosen: runs whose curves are wanted."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.folder: Path | None = None
        self.seen: Snapshot | None = None
        self.failure = ""
        self.chosen: tuple[int, ...] = ()
        self._workspace = workspace
        self._process: SweepProcess | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None  # of the document
        self._is_starting = self._is_reading = self._again = self._is_stopping = False
        self._background = Background(self)
        self._clock = QTimer(self)
        self._clock.setInterval(_INTERVAL)
        self._clock.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        return self._is_starting or self._process is not None

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to end, and has not yet."""
        return self._is_stopping

    @property
    def is_idle(self) -> bool:
        """Whether all that is there is shown."""
        return not (self.busy or self._is_reading)

    def start(self, document: Document, folder: Path, words: Sequence[str]) -> None:
        """Make a sweep of `document` into a new folder. words: as typed, but these."""
        self._begin(folder)
        self.seen, self.chosen = None, ()
        may = self._workspace.permission
        trust = {Permission.FULL: ["--trust"], Permission.CONFINED: ["--sandbox"]}.get(may, [])
        own = [*words, "--out", str(folder), *(trust if document.code else [])]
        name = Path(self._workspace.name).stem
        self._background.run(
            partial(_write, document, name), lambda copy: self._run_on(copy, own), self._fail
        )

    def go_on(self) -> None:
        """Make the runs that are missing in the folder that is shown."""
        if self.folder is not None and not self.busy:
            self._begin(self.folder)
            self._run(["--resume", str(self.folder)])

    def stop(self) -> None:
        """End it; what is over is kept."""
        if self.busy and not self._is_stopping:
            self._is_stopping = True
            if self._process is not None:
                self._process.stop()
            self.changed.emit()

    def open(self, folder: Path) -> None:
        """Show a folder."""
        if not self.busy:
            self.folder, self.failure, self.seen, self.chosen = folder, "", None, ()
            self._look()

    def choose(self, runs: Sequence[int]) -> None:
        """Draw the curves of these; of the best ones for none."""
        if self.chosen != tuple(runs[:MOST]):
            self.chosen = tuple(runs[:MOST])
            self._look()

    # -- inside --------------------------------------------------------------------------------

    def _begin(self, folder: Path) -> None:
        self.folder, self.failure = folder, ""
        self._is_starting, self._is_stopping = True, False
        self.changed.emit()

    def _run_on(self, copy: tempfile.TemporaryDirectory[str], words: Sequence[str]) -> None:
        self._copy = copy
        self._run([*map(str, Path(copy.name).iterdir()), *words])

    def _run(self, words: Sequence[str]) -> None:
        self._is_starting = False
        if self._is_stopping:  # before it had begun
            self._end()
            self.changed.emit()
            return
        try:
            self._process = SweepProcess(words)
        except OSError as error:
            self._fail(GradstepError(f"the sweep could not be started: {error.strerror}"))
            return
        self._clock.start()
        self.changed.emit()

    def _fail(self, error: GradstepError) -> None:
        self._is_starting = False
        self._end()
        self.failure = ". ".join(filter(None, [error.message, error.hint]))
        self.changed.emit()

    def _end(self) -> None:
        """No process is there, and none is to be."""
        self._process, self._is_stopping = None, False
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _look(self) -> None:
        """Read the folder, unless that is being done."""
        ended = self._process
        if ended is not None and not ended.is_running:
            self._clock.stop()
            self.failure = _why(ended)
            ended.close()
            self._end()
        if self._is_reading:
            self._again = True
            return
        if self.folder is not None:
            self._is_reading, self._again = True, False
            look = partial(snapshot, self.folder, self.chosen, self.busy)
            self._background.run(look, self._take, self._cannot_read)

    def _take(self, seen: Snapshot) -> None:
        self._is_reading = False
        self.seen = seen
        self.changed.emit()
        if self._again:
            self._look()

    def _cannot_read(self, error: GradstepError) -> None:
        self._is_reading = False
        if self._again:  # more came while it was read, which may be why
            self._look()
            return
        if not self.busy:  # while it begins there is nothing yet
            self.failure = self.failure or ". ".join(filter(None, [error.message, error.hint]))
        self.changed.emit()


def snapshot(path: Path, chosen: Sequence[int], is_made: bool) -> Snapshot:
    """What the folder holds now. Raises GradstepError."""
    folder = SweepFolder.find(path)
    rows = folder.rows()
    over = {row.number for row in rows}
    begun = sorted(folder.begun() - over) if is_made else []
    best = sorted(rows, key=lambda row: (row.shown_loss, row.number))
    wanted = chosen or [*(row.number for row in best[:SHOWN]), *begun[:SHOWN]]
    curves = {number: folder.curve(number) for number in dict.fromkeys([*wanted, *begun])}
    running = {n: int(curves[n][-1, 0]) for n in begun if len(curves[n])}
    return Snapshot(folder.record, rows, running, {n: curves[n] for n in wanted})


def _write(document: Document, name: str) -> tempfile.TemporaryDirectory[str]:
    """A folder with a copy of the document in it, as it stands in the window."""
    folder = tempfile.TemporaryDirectory(prefix="gradstep-sweep-")
    path = Path(folder.name, f"{name or 'document'}.gradstep")
    replace_file(path, gradstep_file.to_bytes(document))
    return folder


def _why(process: SweepProcess) -> str:
    """Why a sweep made nothing, or not all; "" where it was not an error of its own."""
    try:
        found = msgspec.json.decode(process.answer(), type=dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return process.last_words() or "the process that made the sweep ended"
    error = found.get("error") or {}
    return ". ".join(filter(None, [error.get("message", ""), error.get("hint", "")]))
