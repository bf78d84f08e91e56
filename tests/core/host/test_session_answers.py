"""Several sessions through the engine's messages: each at its own place, kept over edits and over
the death of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.document.wire_completion import add_source
from gradstep.core.graph.model import Edge
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.support.queueing import queue_document


class Engine:
    """A service, and the journal that a client would keep of it."""

    def __init__(self, journal: SessionJournal | None = None) -> None:
        self.service, self.journal = EngineService(CpuOnly()), journal or SessionJournal()
        for message, buffers in self.journal.replay():
            reply, _ = self.service.handle(message, buffers)
            assert not isinstance(reply, m.Failed), reply

    def ask(self, message: m.Message, *buffers: bytes) -> Any:
        reply, received = self.service.handle(message, buffers)
        self.journal = self.journal.after(message, buffers, reply, received)
        return reply

    def open(self, document: Document, keep: bool = False) -> m.Opened:
        return self.ask(m.Open(keep_position=keep), gradstep_file.to_bytes(document))  # type: ignore[no-any-return]

    def sessions(self, command: str = "list", name: str = "", **rest: Any) -> m.SessionList:
        reply = self.ask(m.ManageSessions(command=command, name=name, **rest))
        assert isinstance(reply, m.SessionList), reply
        return reply

    def held(self) -> dict[str, tuple[int, int, dict[str, str]]]:
        return {s.name: (s.run, s.step, s.held) for s in self.sessions().sessions}


@pytest.fixture
def tutorial(example: Callable[[str], bytes]) -> Document:
    return gradstep_file.from_bytes(example("tutorial"))


@pytest.fixture
def engine(tutorial: Document) -> Engine:
    """The first session at the end of run 1; the second, in the middle of run 0, has its `c`."""
    engine = Engine()
    engine.open(tutorial)
    engine.ask(m.Control(command="continue_"))
    engine.ask(m.Control(command="continue_"))
    engine.sessions("new", "other")
    engine.ask(m.Control(command="run_to", target="a"))
    said = engine.sessions("copy", source="main", target="other", wanted=["c", "c=k"])
    assert said.text == "copied from main to other: c, c to k"
    return engine


def test_each_stands_and_holds_for_itself(engine: Engine) -> None:
    held = engine.held()
    assert held["main"][0] == 1
    assert held["other"][0] == 0
    assert held["other"][2]["k"] == held["other"][2]["c"] == held["main"][2]["c"]
    assert held["main"][2]["k"] != held["main"][2]["c"]
    switched = engine.sessions("switch", "main")
    assert (switched.current, switched.stopped.run) == ("main", 1)
    assert engine.ask(m.Control(command="continue_")).run == 2
    assert engine.held()["other"] == held["other"]


def test_an_edit_keeps_all_of_them(engine: Engine, tutorial: Document) -> None:
    before = engine.held()
    edited = document_edits.rename_operation(tutorial, "e", "sum")
    engine.open(edited, keep=True)
    assert engine.held() == before
    assert engine.sessions().current == "other"


def test_a_new_engine_comes_back_to_all_of_them(engine: Engine, tutorial: Document) -> None:
    engine.sessions("duplicate", "twin")
    engine.ask(m.Control(command="step"))
    engine.sessions("switch", "main")
    engine.ask(m.Control(command="step_back"))
    assert Engine(engine.journal).held() == engine.held()
    engine.open(document_edits.rename_operation(tutorial, "e", "sum"), keep=True)
    assert Engine(engine.journal).held() == engine.held()


def test_values_that_a_session_was_given_outlast_an_edit_and_then_the_engine(
    engine: Engine, tutorial: Document
) -> None:
    """They are those of the program as it was then, which the edited one does not give again."""
    engine.sessions("switch", "main")
    engine.sessions("duplicate", "twin")
    engine.open(
        document_edits.set_feed(tutorial, "data:0", -tutorial.feeds["data:0"].array), keep=True
    )
    engine.ask(m.Control(command="step"))
    assert Engine(engine.journal).held() == engine.held()


def test_a_copy_that_was_restarted_comes_back_as_one_that_was_given_nothing(
    engine: Engine,
) -> None:
    engine.sessions("switch", "main")
    engine.sessions("duplicate", "twin")
    given = engine.held()["twin"]
    engine.ask(m.Control(command="restart"))
    assert engine.held()["twin"] != given
    assert Engine(engine.journal).held() == engine.held()


def test_a_session_that_went_back_before_what_it_was_given_stands_there_after_an_edit(
    engine: Engine, tutorial: Document
) -> None:
    engine.ask(m.Control(command="run_to", target="0:0"))
    before = engine.held()
    assert before["other"][:2] == (0, 0)
    engine.open(document_edits.rename_operation(tutorial, "e", "sum"), keep=True)
    assert engine.held() == before
    assert Engine(engine.journal).held() == before


def test_a_session_left_where_an_edit_then_put_operations_before_comes_back_there(
    engine: Engine, tutorial: Document
) -> None:
    engine.sessions("switch", "main")
    engine.ask(m.Control(command="run_to", target="1:3"))
    engine.sessions("new", "third")
    engine.open(document_edits.remove_operations(tutorial, ["k"]), keep=True)
    engine.open(document_edits.add_operation(tutorial, "Const", (0, 0))[0], keep=True)
    assert Engine(engine.journal).held() == engine.held()


def test_threads_come_back_after_an_edit_to_where_breakpoints_had_stopped_them() -> None:
    document = queue_document(3, 4)
    engine = Engine()
    engine.open(document)
    engine.ask(m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="one_rows")]))
    stood = engine.ask(m.Control(command="continue_"))
    assert stood.reason == "breakpoint"
    stopping = document_edits.set_breakpoints(document, [Breakpoint("one_rows")])
    after = engine.open(document_edits.set_note(stopping, "t", "n", "", ""), keep=True).stopped
    assert (after.run, after.step, after.op) == (stood.run, stood.step, stood.op)
    engine.ask(m.Control(command="step"))
    other = Engine(engine.journal)
    stops = [each.ask(m.Control(command="pause")) for each in (engine, other)]
    assert stops[0].threads == stops[1].threads
    assert other.held() == engine.held()


def test_a_thread_ends_also_where_what_closes_its_queue_cannot_run(
    example: Callable[[str], bytes],
) -> None:
    document = gradstep_file.from_bytes(example("queue_train_validation"))
    engine = Engine()
    engine.open(document_edits.disconnect(document, Edge("valid/close", 0)))
    for _ in range(3):
        stopped = engine.ask(m.Control(command="continue_"))
        assert isinstance(stopped, m.Stopped), stopped
    assert "finished" in {thread.condition for thread in stopped.threads}
    other = Engine(engine.journal)
    assert other.held() == engine.held()
    assert other.ask(m.Control(command="pause")).threads == stopped.threads


@pytest.mark.slow
def test_a_pause_ends_the_way_back_to_where_sessions_stood(example: Callable[[str], bytes]) -> None:
    """An edit has made the loop on it endless, in both."""
    document = gradstep_file.from_bytes(example("while_loop"))
    engine = Engine()
    engine.open(document)
    engine.ask(m.Control(command="continue_"))
    engine.sessions("duplicate", "other")
    engine.ask(m.Control(command="continue_"))
    engine.sessions("copy", source="main", target="other")  # in the middle of its way
    engine.sessions("switch", "main")
    endless = document_edits.disconnect(document, Edge("while/Less", 0))
    endless, _ = add_source(endless, "Placeholder", (0, 0), Edge("while/Less", 0))
    pausing = threading.Timer(0.2, engine.service.pause)
    pausing.start()
    stopped = engine.open(endless, keep=True).stopped
    assert stopped.reason == "pause"
    assert engine.ask(m.Control(command="pause")).inside == stopped.inside
    assert set(engine.held()) == {"main", "other"}


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (m.ManageSessions(command="switch", name="third"), "there is no session 'third'"),
        (m.ManageSessions(command="new", name="main"), "there is a session 'main' already"),
        (m.ManageSessions(command="new"), "a session needs a name"),
        (m.ManageSessions(command="copy", source="main", target="third"), "there is no session"),
        (m.ManageSessions(command="dance"), "sessions have no command 'dance'"),
    ],
)
def test_what_cannot_be_done_says_why(engine: Engine, request_: m.Message, words: str) -> None:
    reply = engine.ask(request_)
    assert isinstance(reply, m.Failed)
    assert reply.error.message.startswith(words)
    engine.sessions("delete", "other")
    only = engine.ask(m.ManageSessions(command="delete", name="main"))
    assert only.error.message == "'main' is the only session"


def test_a_variable_has_another_value_from_here_on(engine: Engine) -> None:
    engine.sessions("switch", "main")
    engine.ask(m.Control(command="step"))  # into a run that has not begun
    value = np.array([1, 2], np.float32)
    reply = engine.ask(m.Assign(name="c", dtype="float32", shape=[2]), value.tobytes())
    assert isinstance(reply, m.SessionList)
    assert reply.text == "c is [1. 2.] from here on"
    assert engine.held()["main"][2]["c"] == "[1. 2.]"
    engine.ask(m.Control(command="continue_"))
    after = engine.held()
    assert after["main"][2]["c"] != "[1. 2.]"  # it is trained from there
    assert Engine(engine.journal).held() == after  # as one that died comes back


@pytest.mark.parametrize(
    ("request_", "buffer", "why"),
    [
        (m.Assign(name="nowhere", dtype="float32", shape=[]), bytes(4), "nowhere"),
        (m.Assign(name="c", dtype="float32", shape=[3]), bytes(12), "[3]"),
        (m.Assign(name="c", dtype="int32", shape=[2]), bytes(8), "int32"),
        (m.Assign(name="c", dtype="float32", shape=[2]), bytes(4), "not of its shape"),
        (m.Assign(name="c", dtype="float31", shape=[2]), bytes(8), "no value"),
    ],
)
def test_what_a_variable_cannot_be_given_is_refused(
    engine: Engine, request_: m.Assign, buffer: bytes, why: str
) -> None:
    engine.sessions("switch", "main")
    before = engine.held()
    reply = engine.ask(request_, buffer)
    assert isinstance(reply, m.Failed)
    assert why in reply.error.message
    assert engine.held() == before
