"""Watches of a document: added, edited, renamed with what they name, kept in the file."""

from __future__ import annotations

import pytest

from gradstep.core.document import document_edits, watch_edits
from gradstep.core.document.document import Document
from gradstep.core.document.unsaved_changes import has_work
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.model.engine_sync import same_run


@pytest.fixture
def document() -> Document:
    b = GraphBuilder()
    x = b.placeholder("net/x", shape=(2,))
    b.one("Split", b.constant(0), x, name="parts", num_split=2)
    return Document(b.build())


@pytest.mark.parametrize(
    ("typed", "watched"),
    [
        ("net/x", 'x["net/x:0"]'),
        (" parts:1 ", 'x["parts:1"]'),
        ('norm(grad["net/x"])', 'norm(grad["net/x"])'),
        ("1 + 2", "1 + 2"),
    ],
)
def test_the_name_of_a_tensor_means_its_value(document: Document, typed: str, watched: str) -> None:
    assert watch_edits.add_watch(document, typed).watches == (watched,)


@pytest.mark.parametrize("typed", ["", "nosuch", "x[", "__import__('os')", "net/x + 1"])
def test_what_cannot_be_read_is_refused(document: Document, typed: str) -> None:
    with pytest.raises(GradstepError, match="cannot evaluate"):
        watch_edits.add_watch(document, typed)


def test_one_is_there_once(document: Document) -> None:
    once = watch_edits.add_watch(document, "net/x")
    assert watch_edits.add_watch(once, 'x["net/x:0"]') is once
    two = watch_edits.add_watch(once, "parts")
    assert watch_edits.set_watch(two, 1, "net/x").watches == once.watches
    assert watch_edits.remove_watch(two, 0).watches == ('x["parts:0"]',)


def test_a_renamed_operation_is_renamed_in_them(document: Document) -> None:
    watched = watch_edits.add_watch(document, 'x["net/x"] > 1')
    assert document_edits.rename_operation(watched, "net/x", "y").watches == ('x["y"] > 1',)


def test_they_are_in_the_file_and_no_work(document: Document) -> None:
    watched = watch_edits.add_watch(document, "net/x")
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(watched))
    assert again.watches == watched.watches
    assert not has_work(watched, document)
    assert same_run(watched, document)  # the engine need not hear of them
