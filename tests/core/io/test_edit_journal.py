"""A journal gives back what was kept last, up to what is not whole."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io import edit_journal
from gradstep.core.io.edit_journal import EditJournal, JournalNote
from gradstep.core.io.native import gradstep_file


def grown(count: int) -> list[Document]:
    found = [Document()]
    for number in range(count):
        found.append(document_edits.add_operation(found[-1], "Tanh", (0.0, 0.0), f"t{number}")[0])
    return found


def read(path: Path) -> bytes:
    return gradstep_file.to_bytes(edit_journal.read(path)[1])


def test_edits_are_added_and_not_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    writing, documents = EditJournal(path), grown(20)
    large = Constant(np.arange(50_000.0))
    writing.keep(documents[0].with_(feeds={"x:0": large}), JournalNote(name="n"))
    base, inode = path.stat().st_size, path.stat().st_ino
    for document in documents[1:]:
        before = path.stat().st_size
        writing.keep(document.with_(feeds={"x:0": large}), JournalNote(name="n"))
        assert path.stat().st_size - before < 2000 < base
    assert path.stat().st_ino == inode
    assert edit_journal.read_note(path) == JournalNote(name="n")
    assert read(path) == gradstep_file.to_bytes(documents[-1].with_(feeds={"x:0": large}))


def test_a_log_longer_than_its_document_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_journal, "SMALL", 0)
    path = tmp_path / "a.journal"
    writing, documents = EditJournal(path), grown(2)
    for turn in range(60):
        writing.keep(documents[1 + turn % 2], JournalNote())
        assert read(path) == gradstep_file.to_bytes(documents[1 + turn % 2])
    assert path.stat().st_size < 6000


@pytest.mark.slow
@given(st.integers(1, 4), st.floats(0, 1), st.sampled_from((b"", b"\0" * 30, b"GSJ1")))
def test_a_torn_end_is_ignored(count: int, cut: float, rest: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.journal"
        writing, sizes = EditJournal(path), []
        documents = grown(count)
        for document in documents:
            writing.keep(document, JournalNote())
            sizes.append(path.stat().st_size)
        size = sizes[0] + round(cut * (sizes[-1] - sizes[0]))
        kept = path.read_bytes()
        torn = kept[:size] + rest
        path.write_bytes(torn)
        # What comes behind the cut may be what was cut off: zeros.
        whole = sum(torn[:each] == kept[:each] for each in sizes)
        assert read(path) == gradstep_file.to_bytes(documents[whole - 1])


def test_a_flipped_bit_ends_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As a torn end does: what a frame holds is not looked at."""
    path = tmp_path / "a.journal"
    writing = EditJournal(path)
    for document in (documents := grown(3)):
        writing.keep(document, JournalNote())
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    assert read(path) == gradstep_file.to_bytes(documents[2])
    assert not caplog.records


@pytest.mark.parametrize("data", [b"", b"GSJ1", b"nonsense" * 9])
def test_what_is_no_journal_is_said(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.journal"
    path.write_bytes(data)
    with pytest.raises(GradstepError, match="no unsaved work that can be read"):
        edit_journal.read(path)


def test_a_journal_that_was_deleted_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    writing, documents = EditJournal(path), grown(2)
    writing.keep(documents[0], JournalNote())
    path.unlink()
    writing.keep(documents[1], JournalNote())
    assert read(path) == gradstep_file.to_bytes(documents[1])
