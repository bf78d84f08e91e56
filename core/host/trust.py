"""Whose Python may run: the user's decisions, remembered by the hash of the code."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from core.errors import GradstepError
from core.io.atomic import replace_file
from core.io.document import Document
from core.io.example_index import EXAMPLES, load


class _Remembered(msgspec.Struct, frozen=True):
    """The file: SHA-256 of every piece of code that the user said yes to."""

    trusted: list[str] = []


def is_trusted(document: Document) -> bool:
    """Whether the document's Python may run: it has none, it came with the program, or the user
    trusted exactly this code before."""
    digest = document.code_hash
    return not digest or digest in _remembered() or digest in _bundled()


def came_with_program(document: Document) -> bool:
    """Whether the document's Python is that of one of the examples."""
    return document.code_hash in _bundled()


def trust(document: Document) -> None:
    """Remember that the document's Python, as it is now, may run. Raises GradstepError
    (FileError) when that cannot be written down."""
    hashes = _remembered() | ({document.code_hash} - {""})
    path = store_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradstepError(
            f"the decision to trust this document could not be saved: {error.strerror}",
            kind="FileError",
            hint=f"make {path.parent} writable",
        ) from error
    replace_file(path, msgspec.json.encode(_Remembered(sorted(hashes))))


def store_path() -> Path:
    """The user's file of trusted hashes; follows XDG_DATA_HOME."""
    import platformdirs

    return platformdirs.user_data_path("gradstep", appauthor=False) / "trusted.json"


def _remembered() -> frozenset[str]:
    """What the file says; a missing or damaged one trusts nothing."""
    try:
        return frozenset(msgspec.json.decode(store_path().read_bytes(), type=_Remembered).trusted)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return frozenset()


@cache
def _bundled() -> frozenset[str]:
    """Hashes of the code in the examples that came with the program; none if they were lost."""
    try:
        return frozenset(entry.code for entry in load(EXAMPLES))
    except GradstepError:
        return frozenset()
