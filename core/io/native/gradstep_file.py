"""Gradstep's own file, .gradstep: a document as a zip of readable parts."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import msgspec

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.file_stamp import OnDisk, check_unchanged, of_bytes
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native import file_schema
from gradstep.core.io.native.dataset_records import as_opened, as_saved
from gradstep.core.io.native.document_records import Written, put_together, take_apart
from gradstep.core.io.native.migrations import migrate
from gradstep.core.io.native.zip_archive import Archive, pack
from gradstep.core.json_text import UNREADABLE, pretty, why_unreadable

R = TypeVar("R", bound=file_schema.Record)


@collector_paused()
def to_bytes(document: Document, readable: bool = True) -> bytes:
    """The file of `document`; equal documents give equal bytes. readable: its text is laid out for
    people, which takes most of the time. Raises GradstepError."""
    return _packed(_written(document), readable)


def to_bytes_beside(document: Document) -> bytes:
    """As `to_bytes`, unreadable, in a thread beside the main one, whose the collector is."""
    return _packed(_written(document), readable=False)


def _packed(written: Written, readable: bool = True) -> bytes:
    text = _text if readable else msgspec.json.encode
    try:
        members = {
            "document.json": text(written.document),
            "view.json": text(written.view),
            **written.members,
        }
    except UnicodeEncodeError as error:
        raise _unwritable(error) from None
    return pack(members)


def _written(document: Document) -> Written:
    try:
        return take_apart(document)
    except UnicodeEncodeError as error:
        raise _unwritable(error) from None


def _unwritable(error: UnicodeEncodeError) -> GradstepError:
    return GradstepError(f"a text of it cannot be saved: {error}", kind="FileError")


@collector_paused()
def from_bytes(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document in a file's bytes; `name` is the file's, for messages. Raises GradstepError:
    FileError, or OverBudgetError where it takes more memory than `budget` allows."""
    try:
        archive = Archive(data, budget)
        record = _record(archive, "document.json", file_schema.DocumentRecord)
        view = file_schema.ViewRecord(version=file_schema.VERSION)
        if "view.json" in archive:
            view = _record(archive, "view.json", file_schema.ViewRecord)
        return put_together(record, view, archive)
    except GradstepError as error:
        raise inside(name or "the document", error, kind="FileError") from None


def save(
    path: str | os.PathLike[str], document: Document, expected: OnDisk | None = None
) -> OnDisk:
    """Write `document` to `path`, all of it or nothing, once the bytes were seen to be read as that
    very document. expected: what the file must hold still, whatever it is where none is given.
    Returns what it holds now. Raises GradstepError: FileChangedError where it holds something else.
    """
    data = proven(as_saved(document, path))
    replace_file(path, data, check_unchanged(path, expected))
    return of_bytes(path, data)


@collector_paused()
def proven(document: Document) -> bytes:
    """The file of `document`, seen to give it back. Raises GradstepError where it does not."""
    written = _written(document)
    data = _packed(written)
    try:
        same = take_apart(from_bytes(data, budget=Budget.unlimited())) == written
        why = "it would be another document"
    except GradstepError as error:
        same, why = False, error.message
    if not same:
        raise GradstepError(
            f"this document cannot be saved so that it opens again: {why}; nothing was changed",
            kind="FileError",
            hint="undo the last edit, or export the graph in another format",
        )
    return data


def load(path: str | os.PathLike[str]) -> Document:
    """The document at `path`. Raises GradstepError."""
    budget = Budget()
    return as_opened(from_bytes(read_file(path, budget), os.fspath(path), budget), path)


class _Versioned(msgspec.Struct):
    version: int


def _text(record: file_schema.Record) -> bytes:
    return pretty(msgspec.to_builtins(record)).encode()


def _record(archive: Archive, member: str, kind: type[R]) -> R:
    text = archive.json(member)
    try:
        version = msgspec.json.decode(text, type=_Versioned).version
        if file_schema.ALIKE <= version <= file_schema.VERSION:
            return msgspec.json.decode(text, type=kind)
        raw: dict[str, Any] = msgspec.json.decode(text)
        return msgspec.convert(migrate(raw, version), kind)
    except UNREADABLE as error:
        raise GradstepError(
            f"{member} is not valid: {why_unreadable(error)}",
            kind="FileError",
            hint="use another copy, or a backup, of the file",
        ) from None
