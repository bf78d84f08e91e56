"""Edits on their way to the engine: as differences, and whole where it holds something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document, View
from gradstep.core.graph.model import Constant, Edge
from gradstep.core.host import engine_document
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.document_diff import Difference, apply
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer

KEEP = m.Open(trusted=True, keep_position=True)


class Client:
    """What a window is to an engine."""

    def __init__(self, document: Document) -> None:
        self.service = EngineService(CpuOnly())
        self.journal = SessionJournal()
        self.given = EngineDocument()
        self.asked: list[m.Message] = []
        self.sent = 0  # bytes of the last request's buffers
        self.show(document)

    def ask(self, message: m.Message, buffers: Sequence[Buffer] = ()) -> m.Message:
        reply, received = self.service.handle(message, [bytes(b) for b in buffers])
        self.asked.append(message)
        self.sent = sum(map(len, buffers))
        self.journal = self.journal.after(message, buffers, reply, received)
        return reply

    def show(self, document: Document, settings: m.Open = KEEP) -> m.Message:
        return self.ask(*self.given.give(document, settings))

    @property
    def document(self) -> Document:
        assert self.service._loaded is not None
        return self.service._loaded.document

    @property
    def graph(self) -> Any:
        return self.service._threads.program.forward


@pytest.fixture
def tutorial(example: Callable[[str], bytes]) -> Document:
    return gradstep_file.from_bytes(example("tutorial"))


def stopped(document: Document, *names: str) -> Document:
    for name in names:
        document = document_edits.toggle_stop(document, Edge(name, 0))
    return document


def fed(document: Document, size: int) -> Document:
    """With a feed of so many random bytes."""
    noise = np.random.default_rng(0).integers(0, 255, size, np.uint8)
    feeds = {**document.feeds, "more:0": Constant(noise)}
    return document_edits.add_operation(document, "Placeholder", (0, 0), "more")[0].with_(
        feeds=feeds
    )


def test_an_edit_is_a_difference_and_leaves_operations_the_very_same(tutorial: Document) -> None:
    client = Client(tutorial)
    before = client.graph
    assert isinstance(client.show(stopped(tutorial, "e")), m.Edited)
    assert [type(message) for message in client.asked] == [m.Open, m.Edit]
    assert client.sent < 200
    assert client.graph is before
    assert client.document.request.stopped_edges == {Edge("e", 0)}
    client.show(document_edits.add_operation(stopped(tutorial, "e"), "Neg", (0, 0), "more")[0])
    assert [op for op in client.graph if op.name not in before] == [client.graph["more"]]
    assert all(client.graph[op.name] is op for op in before)


def test_where_nodes_stand_is_nothing_to_the_engine(tutorial: Document) -> None:
    client = Client(tutorial)
    places = {op.name: (7.0, 7.0) for op in tutorial.graph}
    moved = tutorial.with_(view=View(places, frozenset()))
    client.show(stopped(moved, "d"))
    assert client.sent < 200


def test_another_revision_is_answered_and_nothing_is_done(tutorial: Document) -> None:
    client = Client(tutorial)
    edit, buffers = client.given.give(stopped(tutorial, "e"), KEEP)
    other = Client(tutorial)
    other.show(stopped(tutorial, "a"))
    held = other.document
    assert other.ask(edit, buffers) == m.OtherRevision(revision=2)
    assert other.document is held
    assert EngineService(CpuOnly()).handle(edit, [*map(bytes, buffers)])[0] == m.OtherRevision(
        revision=-1
    )
    client.given.forget()
    message, _ = client.given.give(stopped(tutorial, "e"), KEEP)
    assert isinstance(message, m.Open)


def test_a_difference_that_does_not_fit_is_refused_in_words(tutorial: Document) -> None:
    client = Client(tutorial)
    edit = m.Edit(base=1, members=[], revision=2)
    for buffers in ((), (b"nonsense",), (b"", b"")):
        reply = client.ask(edit, buffers)
        assert isinstance(reply, m.Failed)
        assert reply.error.type == "FileError"
    assert isinstance(client.show(stopped(tutorial, "e")), m.Edited), "it holds what it held"


@pytest.mark.slow
def test_what_is_kept_for_a_restart_is_not_much_larger_than_the_document(
    tutorial: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_document, "_LEAST", 4_000)
    client = Client(tutorial)
    for number in range(40):
        assert isinstance(client.show(fed(tutorial, 1_000 + number)), m.Opened | m.Edited)
        kept = sum(map(len, client.journal.edits))
        assert kept <= max(4_000, len(client.journal.document))
    whole = sum(isinstance(message, m.Open) for message in client.asked)
    assert 2 <= whole <= 14


def test_a_new_engine_is_led_through_the_edits_at_once(tutorial: Document) -> None:
    client = Client(tutorial)
    first = stopped(tutorial, "e")
    client.show(first)
    client.ask(m.Control(command="run_to", target="1:5"))
    client.show(fed(first, 100), m.Open(keep_position=True, recorded_limit=1 << 20))
    [open_, move] = client.journal.replay()
    opened = open_[0]
    assert isinstance(opened, m.Open)
    assert (len(opened.edits), opened.recorded_limit, opened.trusted) == (2, 1 << 20, False)
    service = EngineService(CpuOnly())
    replies = [service.handle(message, sent)[0] for message, sent in (open_, move)]
    assert isinstance(replies[-1], m.Stopped)
    assert (replies[-1].run, replies[-1].step) == (1, 5)
    client.service = service
    assert gradstep_file.to_bytes(client.document.with_(view=tutorial.view)) == (
        gradstep_file.to_bytes(fed(first, 100).with_(view=tutorial.view))
    )
    assert isinstance(client.show(first), m.Edited)
    assert isinstance(client.asked[-1], m.Edit), "it goes on where the old one was"


def test_expectations_are_checked_without_sending_the_document(tutorial: Document) -> None:
    client = Client(tutorial)
    noted = stopped(tutorial, "e")  # which the engine is not given
    request, buffers = client.given.about(noted, m.Expect(what=['x["d"] + 1']))
    assert sum(map(len, buffers)) < 200
    reply, received = client.service.handle(request, [*map(bytes, buffers)])
    assert isinstance(reply, m.Expected)
    found = apply(noted, Difference.from_buffers(reply.members, received))
    assert (reply.count, len(found.expectations)) == (1, 1 + len(tutorial.expectations))
    request, buffers = client.given.about(found, m.CheckExpectations())
    checked = client.ask(request, buffers)
    assert isinstance(checked, m.Expectations)
    assert len(checked.checked) == len(found.expectations)
    assert checked.checked[-1].ok
    assert client.document.expectations == tutorial.expectations
    other = EngineService(CpuOnly()).handle(request, [*map(bytes, buffers)])[0]
    assert other == m.OtherRevision(revision=-1)
    client.given.forget()
    assert client.ask(*client.given.about(found, m.CheckExpectations())) == checked
