"""Writing a document that has data in a format that has none: it is fed the first batch there."""

from __future__ import annotations

import os
from pathlib import Path

from gradstep.core.data.array_files import Reading
from gradstep.core.data.opened_data import fed_kinds, open_data
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget
from gradstep.core.io.export_document import Draw, write
from gradstep.core.io.format_record import Format
from gradstep.core.io.format_table import format_written_as, suffix_written
from gradstep.core.io.left_out import PARTS, left_out


def write_exported(
    path: str | os.PathLike[str],
    document: Document,
    draw: Draw | None = None,
    memory: int = DEFAULT,
) -> list[str]:
    """Write `document` to `path`, as `export_document.write` does, and of its data what `fed_once`
    says; in words, what the file is without. Raises GradstepError."""
    found = format_written_as(suffix_written(Path(path)), is_drawn=draw is not None)
    fed, lacks = fed_once(document, found, memory)
    write(path, fed, draw)
    return lacks


def fed_once(
    document: Document, found: Format, memory: int = DEFAULT
) -> tuple[Document, list[str]]:
    """`document` as it is to be written in a format, and in words what is left out. Where that
    holds what is fed and no data, it is fed the first batch; where the data cannot be read, what
    it feeds besides. memory: bytes that the data may take."""
    lacks = left_out(document, found)
    keeps = found.keeps
    if document.data is None or keeps is None or "data" in keeps or "feeds" not in keeps:
        return document, lacks
    words = PARTS["data"](document)
    try:
        kinds = fed_kinds(document, document.graph)
        reading = Reading(budget=Budget(memory), packed=document.packed)
        batch = open_data(document.data, kinds, reading).feeds_at(0)
    except GradstepError as error:
        said = f"{words}, which cannot be read: {error.message}"
    else:
        said = f"{words} but for the first batch"
        feeds = {str(ref): Constant(array) for ref, array in batch.items()}
        document = document.with_(feeds={**document.feeds, **feeds})
    return document, [said if each == words else each for each in lacks]
