"""Reading a document from any supported file: by what is in it, whatever it is called."""

from __future__ import annotations

import os
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io import format_table
from gradstep.core.io.disk.file_bytes import cannot_open, read_open_file, unreadable
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff.file_sample import Sample


def read(path: str | os.PathLike[str], budget: Budget | None = None) -> Document:
    """The document at `path`, of any format that is read. Raises GradstepError: FileError for a
    file that cannot be read or understood, which says what it is and how to get one that opens;
    OverBudgetError for one that takes more memory than `budget` allows.
    """
    with to_be_read(path) as file:
        return document_in(file, budget)


def to_be_read(path: str | os.PathLike[str]) -> RegularFile:
    """The file at `path`, of which nothing has been looked at; of a folder that is opened as one
    of its files, as that of a SavedModel is, this file. Raises GradstepError (FileError)."""
    try:
        if not Path(path).is_dir():
            return RegularFile(path)
        sample = Sample.of_folder(path)
        main = next(filter(format_table.is_main_file, sample.listing or ()), None)
        if main is not None:
            return RegularFile(Path(path) / main)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    raise _not_read(sample, format_table.format_of(sample))


def document_in(file: RegularFile, budget: Budget | None = None) -> Document:
    """The document in an open file; see `read`."""
    try:
        sample = Sample(file.name, file.size, file.at)
        found = format_table.format_of(sample)
    except OSError as error:
        raise unreadable(file.name, error) from None
    if found.read is None:
        raise _not_read(sample, found)
    budget = budget or Budget()
    return found.read(read_open_file(file, budget), file.name, budget)


def _not_read(sample: Sample, found: Format) -> GradstepError:
    todo = _in_the_folder(sample) if found.general else ""
    return cannot_open(
        sample.name,
        f"it is {found.what}{_beginning(sample, found)}",
        todo or format_table.todo(found, Path(sample.name)),
    )


def _beginning(sample: Sample, found: Format) -> str:
    """Of what nobody knows, the first bytes."""
    unknown = found is format_table.UNKNOWN
    return f", and begins with {sample.head[:8].hex(' ')}" if unknown else ""


def _in_the_folder(sample: Sample) -> str:
    """Which of its files open, by their names."""
    suffixes = format_table.suffixes_opened()
    within = [name for name in sample.listing or () if name.lower().endswith(suffixes)]
    return f"open a file in it: {', '.join(within[:5])}" if within else ""
