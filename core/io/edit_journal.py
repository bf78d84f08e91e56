"""A document and its edits in one file that only grows: what a crash leaves of unsaved work.

A journal is frames: `GSJ1`, the kind (one byte), the length (uint64, little-endian) and the CRC-32
of kind and contents, then the contents. First come a note (JSON) and the document as its file would
hold it, put there in one piece, then differences, each on disk before the next is written.
Whatever is not whole ends the journal: what came before it counts.
"""

from __future__ import annotations

import contextlib
import logging
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.document_diff import Difference, apply, differences
from gradstep.core.json_text import UNREADABLE

SMALL = 64 << 10  # bytes of differences that are never too many
_MAGIC = b"GSJ1"
_HEAD = struct.Struct("<4scQI")
_NOTE, _DOCUMENT, _DIFFERENCE = b"N", b"D", b"E"


class JournalNote(msgspec.Struct, frozen=True):
    """Whose work it is.

    path:   the document's own file; "" for one that was never saved.
    name:   what the document is called: by the graph that was imported, perhaps.
    digest: of what that file held when it was last read or written; see on_disk.
    before: name of the journal that this work was recovered from, which it holds whole.
    """

    path: str = ""
    name: str = ""
    digest: str = ""
    before: str = ""


class EditJournal:
    """The journal at `path`, written. What `keep` was given last is on disk when it returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = -1
        self._note: JournalNote | None = None
        self._document = Document()  # as the file holds it
        self._base = self._grown = 0  # bytes: of the document, of the differences after it

    def keep(self, document: Document, note: JournalNote) -> None:
        """Put the difference at the end, or the whole document in place of all where that is
        shorter to read. Raises GradstepError; then the file holds what it held before, and what
        comes next is written whole."""
        grown_out = self._grown > max(self._base, SMALL)
        if self._handle < 0 or note != self._note or grown_out or not self._is_there():
            self._begin(document, note)
        elif document is not self._document:
            self._append(differences(self._document, document))
            self._document = document

    def remove(self) -> None:
        """Nothing is to be kept."""
        self._close()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def leave(self) -> None:
        """Write no more, and let it stay."""
        self._close()

    def _begin(self, document: Document, note: JournalNote) -> None:
        whole = gradstep_file.to_bytes(document, readable=False)
        data = _framed(_NOTE, msgspec.json.encode(note)) + _framed(_DOCUMENT, whole)
        self._close()
        replace_file(self.path, data)
        with _told(self.path):
            self._handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        self._note, self._document = note, document
        self._base, self._grown = len(data), 0

    def _append(self, difference: Difference) -> None:
        if not difference:
            return
        data = memoryview(_framed(_DIFFERENCE, difference.to_bytes()))
        self._grown += len(data)
        try:
            with _told(self.path):
                while data:
                    data = data[os.write(self._handle, data) :]
                os.fsync(self._handle)
        except BaseException:
            self._close()  # who knows what is at its end
            raise

    def _is_there(self) -> bool:
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self._handle), self.path.stat())
        return False

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def read(path: Path) -> tuple[JournalNote, Document]:
    """The work in a journal, up to what is not whole. Raises GradstepError where there is none."""
    note, document = JournalNote(), None
    for kind, data in _frames(path):
        if kind == _NOTE:
            note = _read_note(data)
        elif kind == _DOCUMENT:
            document = gradstep_file.from_bytes(data, str(path), Budget.unlimited())
        elif document is not None:
            try:
                document = apply(document, Difference.from_bytes(data))
            except GradstepError:
                logging.getLogger(__name__).exception("%s: the rest cannot be read", path)
                break
    if document is None:
        raise GradstepError(
            f"{path} holds no unsaved work that can be read",
            kind="FileError",
            hint="it is left where it is; Discard removes it",
        )
    return note, document


def read_note(path: Path) -> JournalNote:
    """Whose work a journal holds. Raises GradstepError where it cannot be read."""
    for kind, data in _frames(path):
        return _read_note(data) if kind == _NOTE else JournalNote()
    return JournalNote()


def _read_note(data: bytes) -> JournalNote:
    try:
        return msgspec.json.decode(data, type=JournalNote)
    except UNREADABLE:
        return JournalNote()


def _framed(kind: bytes, data: bytes) -> bytes:
    return _HEAD.pack(_MAGIC, kind, len(data), zlib.crc32(data, zlib.crc32(kind))) + data


def _frames(path: Path) -> Iterator[tuple[bytes, bytes]]:
    with _told(path), path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            magic, kind, length, checksum = _HEAD.unpack(head)
            left -= _HEAD.size
            if magic != _MAGIC or length > left:
                return
            data = file.read(length)
            left -= length
            if len(data) < length or zlib.crc32(data, zlib.crc32(kind)) != checksum:
                return
            yield kind, data


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise GradstepError(f"{path}: {reason}", kind="FileError") from None
