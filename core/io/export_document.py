"""Writing a document in any supported format, by the suffix of the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.format_table import format_written_as, suffix_written

if TYPE_CHECKING:
    from gradstep.core.document.document import Document

Draw = Callable[["Document", str], bytes]  # the picture of a document's graph, for a suffix


def write(path: str | os.PathLike[str], document: Document, draw: Draw | None = None) -> None:
    """Write `document` to `path`, all of it or nothing. draw: makes pictures; without it none are
    written. Raises GradstepError: ValueError for a format that is not known, FileError when it
    cannot be written."""
    from gradstep.core.io.native.dataset_records import as_saved

    replace_file(path, to_bytes(as_saved(document, path), suffix_written(Path(path)), draw))


def to_bytes(document: Document, suffix: str, draw: Draw | None = None) -> bytes:
    """The file of a format; see `write`. Raises GradstepError for one that is not known."""
    found = format_written_as(suffix, is_drawn=draw is not None)
    if found.write is not None:
        return found.write(document)
    assert draw is not None  # or the format would not have been found
    return draw(document, suffix)
