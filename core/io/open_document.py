"""Reading a document from any supported file: by what is in it, whatever it is called."""

from __future__ import annotations

import os
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.sniff.file_kinds import FileKind, kind_of
from gradstep.core.io.sniff.file_sample import Sample

_MODELS = ("saved_model.pb", "saved_model.pbtxt")
SUFFIXES = (".gradstep", ".pb", ".pbtxt")  # of what opens


def read(path: str | os.PathLike[str], budget: Budget | None = None) -> Document:
    """The document at `path`: Gradstep's own, or a TensorFlow GraphDef, binary or text. Raises
    GradstepError: FileError for a file that cannot be read or understood, which says what it is
    and how to get one that opens; OverBudgetError for one that takes more memory than `budget`
    allows.
    """
    with to_be_read(path) as file:
        return document_in(file, budget)


def to_be_read(path: str | os.PathLike[str]) -> RegularFile:
    """The file at `path`, of which nothing has been looked at; of the folder of a SavedModel, its
    model. Raises GradstepError (FileError)."""
    try:
        if not Path(path).is_dir():
            return RegularFile(path)
        sample = Sample.of_folder(path)
        models = [name for name in sample.listing or () if name in _MODELS]
        if models:
            return RegularFile(Path(path) / models[0])
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    kind = kind_of(sample)
    raise _cannot(sample.name, f"it is {kind.what}", _todo(sample, kind))


def document_in(file: RegularFile, budget: Budget | None = None) -> Document:
    """The document in an open file; see `read`."""
    try:
        sample = Sample(file.name, file.size, file.at)
        kind = kind_of(sample)
    except OSError as error:
        raise _unreadable(file.name, error) from None
    if kind.read is None:
        raise _cannot(
            file.name, f"it is {kind.what}{_beginning(sample, kind)}", _todo(sample, kind)
        )
    budget = budget or Budget()
    return kind.read(_bytes(file, budget), file.name, budget)


def read_file(path: str | os.PathLike[str], budget: Budget | None = None) -> bytes:
    """The bytes of a file. Raises GradstepError: FileError that says why there are none,
    OverBudgetError."""
    try:
        with RegularFile(path) as file:
            return _bytes(file, budget or Budget())
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _bytes(file: RegularFile, budget: Budget) -> bytes:
    try:
        return file.read(budget)
    except (OSError, ValueError) as error:
        raise _unreadable(file.name, error) from None


def _beginning(sample: Sample, kind: FileKind) -> str:
    """Of what nobody knows, the first bytes."""
    return f", and begins with {sample.head[:8].hex(' ')}" if kind.name == "unknown" else ""


def _todo(sample: Sample, kind: FileKind) -> str:
    path = Path(sample.name)
    within = [name for name in sample.listing or () if name.lower().endswith(SUFFIXES)]
    if within and kind.name == "folder":
        return f"open a file in it: {', '.join(within[:5])}"
    return kind.todo.format(path=path, file=repr(str(path)), folder=repr(str(path.parent)))


def _unreadable(path: str | os.PathLike[str], error: Exception) -> GradstepError:
    name = os.fspath(path)
    if isinstance(error, FileNotFoundError):
        return _cannot(name, "there is no such file", _near(Path(path)))
    if isinstance(error, PermissionError):
        return _cannot(name, "you may not read it", "check the file's permissions")
    if isinstance(error, OSError):
        return _cannot(name, error.strerror or str(error), "")
    return _cannot(name, str(error), "open a file")


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent} either"
    found = (str(path.parent / name) for name in near(path.name, names, most=1))
    return did_you_mean(found) or "check the path"


def _cannot(name: str, reason: str, hint: str) -> GradstepError:
    return GradstepError(f"cannot open {name}: {reason}", kind="FileError", hint=hint)
