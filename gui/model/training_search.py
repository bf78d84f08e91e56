"""Which trainings can be followed on this machine: each socket is called, and those that answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from gradstep.core.capture.training_lines import Greeting, TrainingLine
from gradstep.core.capture.training_sockets import training_sockets
from gradstep.gui.model.training_call import TrainingCall

PATIENCE = 1000  # milliseconds in which a training has to say who it is


@dataclass(frozen=True)
class FoundTraining:
    """One that answered, and where."""

    path: Path
    greeting: Greeting


Found = Callable[[Sequence[FoundTraining]], object]


class TrainingSearch(QObject):
    """One search; it goes once it has told what it found. Sockets of dead processes are removed on
    the way."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._calls: dict[Path, TrainingCall] = {}
        self._found: list[FoundTraining] = []
        self._tell: Found = lambda _: None
        self._late = QTimer(self, singleShot=True, interval=PATIENCE)
        self._late.timeout.connect(self._finish)

    def begin(self, tell: Found) -> None:
        """Look, and tell what there is, which may be at once. Raises GradstepError for a folder
        that may be somebody else's."""
        paths = training_sockets()
        self._tell = tell
        self._calls = {path: TrainingCall(path, self) for path in paths}
        for path, call in self._calls.items():
            call.heard.connect(partial(self._note, path))
            call.ended.connect(partial(self._forget, path))
        self._late.start()
        for call in [*self._calls.values()]:
            call.begin()
        self._finish_if_all()

    def _note(self, path: Path, lines: Sequence[TrainingLine]) -> None:
        if isinstance(lines[0], Greeting):
            self._found.append(FoundTraining(path, lines[0]))
        self._forget(path)

    def _forget(self, path: Path, *_: object) -> None:
        call = self._calls.pop(path, None)
        if call is not None:
            call.hang_up()
        self._finish_if_all()

    def _finish_if_all(self) -> None:
        if not self._calls and self._late.isActive():
            self._finish()

    def _finish(self) -> None:
        self._late.stop()
        for path in [*self._calls]:
            self._calls.pop(path).hang_up()
        self._tell(sorted(self._found, key=lambda found: str(found.path)))
        self.deleteLater()
