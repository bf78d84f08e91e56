"""Arrays in NumPy's files, as the command line names them: FILE.npy, FILE.npz:KEY."""

from __future__ import annotations

import io

import numpy as np

from gradstep.core.cli.output.command_output import usage
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native import npy
from gradstep.core.io.native.zip_archive import Archive

_ZIP = b"PK"


def array_at(place: str, budget: Budget) -> np.ndarray:
    """Raises GradstepError: FileError for the file, UsageError for a place that names none,
    OverBudgetError."""
    path, colon, key = place.rpartition(":")
    if not colon or not path.endswith(".npz"):
        path, key = place, ""
    if not path:
        raise usage("there is no file after @", "write @FILE.npy, or @FILE.npz:KEY")
    data = read_file(path, budget)
    if data[:2] == _ZIP:
        return _member(path, key, data, budget)
    if path.endswith(".npz"):
        raise _error(f"{path} is not an .npz file", "save the arrays again with np.savez")
    budget.take(len(data), f"the array in {path}")
    return npy.read(io.BytesIO(data), len(data), path)


def _member(path: str, key: str, data: bytes, budget: Budget) -> np.ndarray:
    try:
        archive = Archive(data, budget)
        keys = [name.removesuffix(".npy") for name in archive if name.endswith(".npy")]
        if key in keys:
            return archive.tensor(f"{key}.npy")
    except GradstepError as error:
        raise inside(path, error, kind="FileError") from None
    if key or not keys:
        raise _error(f"{path} has no array named '{key}'", instead(key, keys) or "name another")
    raise usage(f"{path} holds several arrays", f"write @{path}:{keys[0]}")


def _error(message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=hint)
