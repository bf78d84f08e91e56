"""Gradstep's own documents."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs
from gradstep.core.io.sniff.file_sample import Sample

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget

SUFFIX = ".gradstep"


def is_named_as_own(path: str | os.PathLike[str]) -> bool:
    """Whether a file is called as Gradstep's documents are."""
    return PurePath(path).suffix.lower() == SUFFIX


def _sniff(sample: Sample) -> bool:
    return signs.packs(r"^document\.json$")(sample) or _is_cut_off(sample)


def _is_cut_off(sample: Sample) -> bool:
    """A zip without its end, of which only the name tells what was in it."""
    return is_named_as_own(sample.name) and signs.is_zip(sample) and not sample.members


def _read(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.native.dataset_records import as_opened
    from gradstep.core.io.native.gradstep_file import from_bytes

    return as_opened(from_bytes(data, name, budget), name)


def _write(document: Document) -> bytes:
    from gradstep.core.io.native import gradstep_file

    return gradstep_file.proven(document)


FORMATS = (
    Format(
        "gradstep",
        "a .gradstep document",
        _sniff,
        suffixes=(SUFFIX,),
        title="Gradstep documents",
        read=_read,
        write=_write,
        by_name=True,
        is_native=True,
        keeps=None,
    ),
)
