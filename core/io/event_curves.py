"""Curves out of TensorBoard's event files: numbers by tag and step, of whoever wrote them.

Fields are those of tensorflow/core/util/event.proto, framework/summary.proto and
framework/tensor.proto (Apache 2.0). Of a file that is being written, or was cut off, all is read
that is whole; what is no number (histograms, pictures, texts) is only counted.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.record_framing import Records
from gradstep.core.ops.formats.protobuf import every_field

_NAME = "*tfevents*"
_SUMMARY, _VALUE, _TAG, _SIMPLE = 5, 1, 1, 2
_KINDS = {4: "images", 5: "histograms", 6: "sounds"}  # of a summary's value, by field
_TENSOR, _DTYPE, _CONTENT, _FLOATS, _DOUBLES = 8, 1, 4, 5, 6
_FORMATS = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8", 19: "<f2"}  # by TensorFlow's element type


@dataclass
class EventCurve:
    """steps: ascending; numbers: one each."""

    steps: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def add(self, step: int, number: float) -> None:
        """A step that was there before is made again, and so is all behind it: as TensorBoard
        takes it where a training went on from a checkpoint."""
        while self.steps and self.steps[-1] >= step:
            self.steps.pop()
            self.numbers.pop()
        self.steps.append(step)
        self.numbers.append(number)


@dataclass
class EventRun:
    """What the event files of one folder hold. name: the folder's, below the one that was asked
    for. other: what else there is, and how often. notes: what could not be read, for people."""

    name: str
    curves: dict[str, EventCurve] = field(default_factory=dict)
    other: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def read_event_runs(path: Path, budget: Budget | None = None) -> list[EventRun]:
    """Of a file, or of all folders in one. Raises GradstepError (FileError) where there are no
    event files; OverBudgetError where they take more memory than they may."""
    files = [path] if path.is_file() else sorted(_below(path))
    files = [file for file in files if file.is_file()]
    if not files:
        raise GradstepError(
            f"{path} has no event files",
            kind="FileError",
            hint="name the folder that --logdir named, or one of TensorBoard's",
        )
    top = path.parent if path.is_file() else path
    budget, runs = budget or Budget(), dict[str, EventRun]()
    for file in files:
        name = str(file.parent.relative_to(top))
        _read(file, runs.setdefault(name, EventRun(name)), budget)
    return [*runs.values()]


def _below(folder: Path) -> Iterator[Path]:
    """All event files in a folder; folders that cannot be read, or go away, are passed over."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if fnmatchcase(name, _NAME))


def _read(file: Path, run: EventRun, budget: Budget) -> None:
    try:
        records = Records(read_file(file, budget))
    except GradstepError as error:
        if error.kind == "MemoryLimitError":
            raise
        run.notes.append(error.message)
        return
    unread = 0
    for record in records:
        try:
            _add_event(record, run)
        except (ValueError, struct.error):
            unread += 1
    if unread:
        run.notes.append(f"{file}: {unread} events could not be understood")
    if records.ended:
        run.notes.append(f"{file}: {records.ended}; what stands before that was read")


def _add_event(record: bytes, run: EventRun) -> None:
    step, summaries = 0, []
    for number, value in every_field(record):
        if number == 2 and isinstance(value, int):
            step = value - (1 << 64) if value >> 63 else value
        elif number == _SUMMARY and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, value in every_field(summary):
            if number == _VALUE and isinstance(value, bytes):
                _add_value(step, value, run)


def _add_value(step: int, message: bytes, run: EventRun) -> None:
    tag, found = "", None
    for number, value in every_field(message):
        if number == _TAG and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")
        elif number == _SIMPLE and isinstance(value, float):
            found = value
        elif number == _TENSOR and isinstance(value, bytes):
            found = _number(value)
            if found is None:
                run.other["tensors"] += 1
        elif number in _KINDS:
            run.other[_KINDS[number]] += 1
    if found is not None:
        run.curves.setdefault(tag, EventCurve()).add(step, found)


def _number(tensor: bytes) -> float | None:
    """That of a tensor of one number, as newer programs write scalars; None for another one."""
    kind, content = 0, b""
    for number, value in every_field(tensor):
        if number == _DTYPE and isinstance(value, int):
            kind = value
        elif number in (_CONTENT, _FLOATS, _DOUBLES) and isinstance(value, bytes):
            content = value
        elif number in (_FLOATS, _DOUBLES) and isinstance(value, float):
            return value  # not packed
    if kind not in _FORMATS or len(content) != np.dtype(_FORMATS[kind]).itemsize:
        return None
    return float(np.frombuffer(content, _FORMATS[kind])[0])
