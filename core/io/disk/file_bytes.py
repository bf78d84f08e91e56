"""The bytes of a file that somebody named, or why there are none."""

from __future__ import annotations

import os
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile


def read_file(path: str | os.PathLike[str], budget: Budget | None = None) -> bytes:
    """The bytes of a file. Raises GradstepError: FileError that says why there are none,
    OverBudgetError."""
    try:
        file = RegularFile(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    with file:
        return read_open_file(file, budget or Budget())


def read_open_file(file: RegularFile, budget: Budget) -> bytes:
    """Like `read_file`."""
    try:
        return file.read(budget)
    except (OSError, ValueError) as error:
        raise unreadable(file.name, error) from None


def unreadable(path: str | os.PathLike[str], error: Exception) -> GradstepError:
    """The error for a file that could not be opened or read."""
    name = os.fspath(path)
    if isinstance(error, FileNotFoundError):
        return cannot_open(name, "there is no such file", _near(Path(path)))
    if isinstance(error, PermissionError):
        return cannot_open(name, "you may not read it", "check the file's permissions")
    if isinstance(error, OSError):
        return cannot_open(name, error.strerror or str(error), "")
    return cannot_open(name, str(error), "open a file")


def cannot_open(name: str, reason: str, hint: str) -> GradstepError:
    """A FileError."""
    return GradstepError(f"cannot open {name}: {reason}", kind="FileError", hint=hint)


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent} either"
    found = (str(path.parent / name) for name in near(path.name, names, most=1))
    return did_you_mean(found) or "check the path"
