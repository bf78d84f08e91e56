"""Trainings of which event files tell, as TensorBoard shows them; read where nobody waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.sampled_points import SampledPoints

if TYPE_CHECKING:
    from gradstep.core.io.event_curves import EventCurve, EventRun


@dataclass(frozen=True)
class EventTraining:
    """One folder of event files. name: for people; points: by tag; notes: what could not be
    read."""

    name: str
    points: Mapping[str, SampledPoints]
    notes: tuple[str, ...]


class EventReader(QObject):
    """Reads beside the main thread."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._background = Background(self)
        self._running = 0

    @property
    def is_reading(self) -> bool:
        return self._running > 0

    def read(
        self,
        path: Path,
        then: Callable[[list[EventTraining]], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """A file, or all folders in one; those that have curves."""
        self._running += 1

        def work() -> list[EventTraining]:
            from gradstep.core.io.event_curves import read_event_runs

            runs = read_event_runs(path, Budget())
            return [_training(run, path) for run in runs]

        def made(found: list[EventTraining]) -> None:
            self._running -= 1
            then(found)

        def gave_up(error: GradstepError) -> None:
            self._running -= 1
            failed(error)

        self._background.run(work, made, gave_up)


def are_events(path: Path) -> bool:
    """Whether a file is called as TensorBoard wants it, or is a folder, of such."""
    return "tfevents" in path.name or path.is_dir()


def _training(run: EventRun, path: Path) -> EventTraining:
    """Steps are counted from 0 here; from 1 in files, unless one there is 0."""
    curves = {tag: curve for tag, curve in run.curves.items() if curve.steps}
    first = min(1, *_firsts(curves.values()))
    points = {tag: _points(curve, max(first, 0)) for tag, curve in sorted(curves.items())}
    folder = path.parent if path.is_file() else path
    name = folder.resolve().name if run.name == "." else run.name
    there = {tag: each for tag, each in points.items() if len(each)}
    return EventTraining(name, there, tuple(run.notes))


def _firsts(curves: Iterable[EventCurve]) -> list[int]:
    return [curve.steps[0] for curve in curves] or [1]


def _points(curve: EventCurve, first: int) -> SampledPoints:
    steps = np.array(curve.steps, np.int64) - first
    known, points = steps >= 0, SampledPoints()
    points.put(steps[known], np.array(curve.numbers, float)[known])
    return points
