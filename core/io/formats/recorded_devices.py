"""Recordings of devices: opened, they are the document that was run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.device_recordings import DOCUMENT, SUFFIX, TODO, WHAT
from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget


def _read(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.errors import GradstepError
    from gradstep.core.io.file_errors import inside
    from gradstep.core.io.native.gradstep_file import from_bytes
    from gradstep.core.io.native.zip_archive import Archive

    try:
        return from_bytes(Archive(data, budget, WHAT, TODO).raw(DOCUMENT), DOCUMENT, budget)
    except GradstepError as error:
        raise inside(name or "the recording", error, kind="FileError") from None


FORMATS = (
    Format(
        "gradrec",
        WHAT,
        signs.packs(r"^recording\.json$"),
        suffixes=(SUFFIX,),
        title="Recordings of devices",
        read=_read,
        by_name=True,
    ),
)
