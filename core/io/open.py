"""Reading a document from any supported file: by what is in it, whatever it is called."""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import GradstepError
from core.graph.near import did_you_mean, near
from core.io.document import Document
from core.io.file_kinds import FileKind, kind_of
from core.io.file_sample import Sample

MAX_FILE = 4 << 30  # bytes
_MODELS = ("saved_model.pb", "saved_model.pbtxt")
SUFFIXES = (".gradstep", ".pb", ".pbtxt")  # of what opens


def read(path: str | os.PathLike[str]) -> Document:
    """The document at `path`: Gradstep's own, or a TensorFlow GraphDef, binary or text. Raises
    GradstepError: FileError for a file that cannot be read or understood, which says what it is
    and how to get one that opens.
    """
    name = os.fspath(path)
    sample = _sample(path)
    kind = kind_of(sample)
    if kind.read is None:
        raise _cannot(name, f"it is {kind.what}{_beginning(sample, kind)}", _todo(sample, kind))
    return kind.read(read_file(path), name)


def _beginning(sample: Sample, kind: FileKind) -> str:
    """Of what nobody knows, the first bytes."""
    return f", and begins with {sample.head[:8].hex(' ')}" if kind.name == "unknown" else ""


def _todo(sample: Sample, kind: FileKind) -> str:
    path = Path(sample.name)
    within = [name for name in sample.listing or () if name.lower().endswith(SUFFIXES)]
    if within and kind.name == "folder":
        return f"open a file in it: {', '.join(within[:5])}"
    return kind.todo.format(path=path, file=repr(str(path)), folder=repr(str(path.parent)))


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises GradstepError (FileError) that says why there are none."""
    name = os.fspath(path)
    try:
        if Path(path).is_dir():
            raise _cannot(name, "it is a folder", "open a file in it")
        if (size := Path(path).stat().st_size) > MAX_FILE:
            raise _cannot(name, f"its {size} bytes are over the limit of {MAX_FILE}", "")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _sample(path: str | os.PathLike[str]) -> Sample:
    """A look at a file; for the folder of a SavedModel, at its model."""
    try:
        sample = Sample.of(path)
        models = [name for name in sample.listing or () if name in _MODELS]
        if models:
            sample = Sample.of(Path(path) / models[0])
        _ = sample.head, sample.tail  # what cannot be read is said now
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    return sample


def _unreadable(path: str | os.PathLike[str], error: Exception) -> GradstepError:
    name = os.fspath(path)
    if isinstance(error, FileNotFoundError):
        return _cannot(name, "there is no such file", _near(Path(path)))
    if isinstance(error, PermissionError):
        return _cannot(name, "you may not read it", "check the file's permissions")
    return _cannot(name, str(error), "")


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent} either"
    found = (str(path.parent / name) for name in near(path.name, names, most=1))
    return did_you_mean(found) or "check the path"


def _cannot(name: str, reason: str, hint: str) -> GradstepError:
    return GradstepError(f"cannot open {name}: {reason}", kind="FileError", hint=hint)
