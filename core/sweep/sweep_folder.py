"""The folder of a sweep: written while it goes on, and read by who goes on with it or looks at it.

    sweep.json          what was asked for (SweepRecord)
    document.gradstep   the document, as it was then
    rows.jsonl          a line for each run that is over (RunRow)
    curves/3.csv        loss by step of run 3, as far as it is; `step,loss`
    runs/3/             what run 3 ended with, where it was fed rows (docs/training.md: checkpoints)

A line that was cut off, as by the end of power, is not read: its run is made again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.json_text import UNREADABLE
from gradstep.core.sweep.sweep_records import VERSION, RunRow, SweepRecord

_RECORD, _DOCUMENT, _ROWS, _CURVES, _RUNS = (
    "sweep.json", "document.gradstep", "rows.jsonl", "curves", "runs",
)  # fmt: skip
_POINTS = 1000  # of a curve, at most about twice as many
T = TypeVar("T")

Point = tuple[int, float]


def every(steps: int) -> int:
    """Each how many steps a point of a curve is kept."""
    return max(1, steps // _POINTS)


class SweepFolder:
    """One that is there; `begin` makes it, `find` reads what it is of."""

    def __init__(self, path: Path, record: SweepRecord) -> None:
        self.path, self.record = path, record

    @classmethod
    def begin(cls, path: Path, record: SweepRecord, document: bytes) -> SweepFolder:
        """A new one. Raises GradstepError (FileError) where there is a sweep already, and where
        nothing can be written."""
        if (path / _RECORD).exists():
            raise GradstepError(
                f"{path} holds a sweep already",
                kind="FileError",
                hint=f"go on with it by --resume {path}, or name another folder",
            )
        with _written(path):
            for part in (path, path / _CURVES, path / _RUNS):
                part.mkdir(parents=True, exist_ok=True)
        replace_file(path / _DOCUMENT, document)
        replace_file(path / _RECORD, msgspec.json.format(msgspec.json.encode(record)))
        return cls(path, record)

    @classmethod
    def find(cls, path: Path) -> SweepFolder:
        """The one at `path`. Raises GradstepError (FileError)."""
        if not (path / _RECORD).is_file():
            raise GradstepError(
                f"{path} is no folder of a sweep",
                kind="FileError",
                hint="name the folder that --out named: it holds sweep.json",
            )
        record = _decoded(read_file(path / _RECORD, Budget()), SweepRecord)
        if record is None or record.version > VERSION:
            raise GradstepError(
                f"{path / _RECORD} cannot be understood",
                kind="FileError",
                hint="it was written by a newer Gradstep, or changed by hand",
            )
        return cls(path, record)

    @property
    def document(self) -> Path:
        """The document's file."""
        return self.path / _DOCUMENT

    def checkpoint(self, number: int) -> Path:
        """Where a run leaves what it ended with."""
        return self.path / _RUNS / str(number)

    # -- rows ----------------------------------------------------------------------------------

    def rows(self) -> list[RunRow]:
        """Of each run that is over the newest, by number. Raises GradstepError (FileError)."""
        found: dict[int, RunRow] = {}
        path = self.path / _ROWS
        for line in read_file(path, Budget()).splitlines() if path.exists() else ():
            row = _decoded(line, RunRow)
            if row is not None:
                found[row.number] = row
        return [found[number] for number in sorted(found)]

    def add_row(self, row: RunRow) -> None:
        """Raises GradstepError (FileError)."""
        _append(self.path / _ROWS, msgspec.json.encode(row) + b"\n")

    # -- curves --------------------------------------------------------------------------------

    def begin_curve(self, number: int) -> None:
        """Forget what a try that was lost had written."""
        with _written(self.path):
            (self.path / _CURVES / f"{number}.csv").unlink(missing_ok=True)

    def add_points(self, number: int, points: Iterable[Point]) -> None:
        """What the loss of a run was after these steps. Raises GradstepError (FileError)."""
        lines = "".join(f"{step},{loss!r}\n" for step, loss in points)
        _append(self.path / _CURVES / f"{number}.csv", lines.encode())

    def curve(self, number: int) -> np.ndarray:
        """[points, 2]: steps, from 1, and losses; as far as it is known."""
        path = self.path / _CURVES / f"{number}.csv"
        if not path.exists():
            return np.empty((0, 2))
        return np.array([*_points(path.read_text(errors="replace"))]).reshape(-1, 2)

    def begun(self) -> set[int]:
        """The runs of which there is a point."""
        names = (entry.stem for entry in (self.path / _CURVES).glob("*.csv"))
        return {int(name) for name in names if name.isdecimal()}


def _points(text: str) -> Iterator[Point]:
    for line in text.splitlines(keepends=True):
        step, comma, loss = line.partition(",")
        if comma and line.endswith("\n") and step.isdecimal():
            try:
                yield int(step), float(loss)
            except ValueError:
                continue


def _decoded(data: bytes, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE:
        return None


def _append(path: Path, data: bytes) -> None:
    """As one write, so that a line is whole for who reads meanwhile; behind a line that was cut off
    in a new one."""
    with _written(path):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.fstat(handle).st_size
            cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            os.write(handle, b"\n" + data if cut else data)
        finally:
            os.close(handle)


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Inside, what the system says of writing there is an error of ours."""
    try:
        yield
    except OSError as error:
        raise GradstepError(
            f"cannot write {path}: {error.strerror or error}",
            kind="FileError",
            hint="name another folder, or free some space",
        ) from None
