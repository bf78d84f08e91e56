"""Gradstep's own file, .gradstep: a document as a zip of readable parts."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import msgspec

from core.collector import collector_paused
from core.errors import GradstepError
from core.io import schema
from core.io.archive import Archive, pack
from core.io.atomic import replace_file
from core.io.budget import Budget
from core.io.document import Document
from core.io.failures import inside
from core.io.json_text import pretty
from core.io.migrations import migrate
from core.io.records import put_together, take_apart

R = TypeVar("R", bound=schema.Record)


@collector_paused()
def to_bytes(document: Document, readable: bool = True) -> bytes:
    """The file of `document`; equal documents give equal bytes. readable: its text is laid out for
    people, which takes most of the time. Raises GradstepError."""
    written = take_apart(document)
    text = _text if readable else msgspec.json.encode
    try:
        members = {
            "document.json": text(written.document),
            "view.json": text(written.view),
            **written.members,
        }
    except UnicodeEncodeError as error:
        raise GradstepError(f"a name cannot be saved as text: {error}", kind="FileError") from None
    return pack(members)


@collector_paused()
def from_bytes(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document in a file's bytes; `name` is the file's, for messages. Raises GradstepError:
    FileError, or OverBudgetError where it takes more memory than `budget` allows."""
    try:
        archive = Archive(data, budget)
        record = _record(archive, "document.json", schema.DocumentRecord)
        view = schema.ViewRecord(version=schema.VERSION)
        if "view.json" in archive:
            view = _record(archive, "view.json", schema.ViewRecord)
        return put_together(record, view, archive)
    except GradstepError as error:
        raise inside(name or "the document", error, kind="FileError") from None


def save(path: str | os.PathLike[str], document: Document) -> None:
    """Write `document` to `path`, all of it or nothing. Raises GradstepError."""
    replace_file(path, to_bytes(document))


def load(path: str | os.PathLike[str]) -> Document:
    """The document at `path`. Raises GradstepError."""
    from core.io.open import read_file

    budget = Budget()
    return from_bytes(read_file(path, budget), os.fspath(path), budget)


class _Versioned(msgspec.Struct):
    version: int


def _text(record: schema.Record) -> bytes:
    return pretty(msgspec.to_builtins(record)).encode()


def _record(archive: Archive, member: str, kind: type[R]) -> R:
    text = archive.json(member)
    try:
        version = msgspec.json.decode(text, type=_Versioned).version
        if schema.ALIKE <= version <= schema.VERSION:
            return msgspec.json.decode(text, type=kind)
        raw: dict[str, Any] = msgspec.json.decode(text)
        return msgspec.convert(migrate(raw, version), kind)
    except (msgspec.DecodeError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise GradstepError(
            f"{member} is not valid: {reason}",
            kind="FileError",
            hint="use another copy, or a backup, of the file",
        ) from None
