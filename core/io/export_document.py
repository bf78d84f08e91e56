"""Writing a document in any supported format, by the suffix of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file

if TYPE_CHECKING:
    from gradstep.core.document.document import Document


def write(path: str | os.PathLike[str], document: Document) -> None:
    """Write `document` to `path`, all of it or nothing. Raises GradstepError: ValueError for a
    format that is not known, FileError when it cannot be written."""
    replace_file(path, to_bytes(document, Path(path).suffix.lower()))


def to_bytes(document: Document, suffix: str) -> bytes:
    """The file of a format. Raises GradstepError for one that is not known."""
    check_format(suffix)
    return WRITERS[suffix](document)


def check_format(suffix: str) -> None:
    """Raises GradstepError (ValueError) for a suffix that nothing is written as."""
    if suffix not in WRITERS:
        raise unknown_format(suffix)


def _gradstep(document: Document) -> bytes:
    from gradstep.core.io.native import gradstep_file

    return gradstep_file.proven(document)


def _pb(document: Document) -> bytes:
    from gradstep.core.io.tensorflow.graphdef_export import to_pb

    return to_pb(document)


def _pbtxt(document: Document) -> bytes:
    from gradstep.core.io.tensorflow.graphdef_export import to_pbtxt

    return to_pbtxt(document)


def _python(document: Document) -> bytes:
    from gradstep.core.io.script.python_script import to_python

    return to_python(document)


def _dot(document: Document) -> bytes:
    from gradstep.core.io.graphviz import to_dot

    return to_dot(document)


WRITERS: dict[str, Callable[[Document], bytes]] = {
    ".gradstep": _gradstep,
    ".pb": _pb,
    ".pbtxt": _pbtxt,
    ".py": _python,
    ".dot": _dot,
}


def unknown_format(suffix: str, known: Iterable[str] = WRITERS) -> GradstepError:
    """The error for a suffix that nothing is written as; `known` are those that are."""
    message = f"Gradstep does not write {f'{suffix} files' if suffix else 'files without a suffix'}"
    return GradstepError(message, kind="ValueError", hint=f"it writes {', '.join(known)}")
