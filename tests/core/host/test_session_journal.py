"""Replay: whatever was done, a new engine comes to the same step with the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.engine.run.variable_map import variables
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Constant, Edge
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.protocol import messages as m
from tests.support.drawn_share import share
from tests.support.queueing import queue_document

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


class Sessions(RuleBasedStateMachine):
    """A session that is driven at random, and now and then brought back in a new engine."""

    def __init__(self) -> None:
        super().__init__()
        self.service = EngineService(CpuOnly())
        self.journal = SessionJournal()
        self.given = EngineDocument()
        self.here: m.Stopped | None = None
        self.refs: list[str] = []
        self.document: Document | None = None

    def ask(self, message: m.Message, *buffers: bytes) -> m.Message:
        reply, received = self.service.handle(message, buffers)
        self.journal = self.journal.after(message, buffers, reply, received)
        return reply

    @initialize(name=st.sampled_from(["tutorial", "override_add", "gather", "queue_deadlock"]))
    def open(self, name: str) -> None:
        self.document = gradstep_file.load(EXAMPLES / f"{name}.gradstep")
        request, buffers = self.given.give(self.document, m.Open(trusted=True))
        reply = self.ask(request, *map(bytes, buffers))
        assert isinstance(reply, m.Opened)
        self.here = reply.stopped
        self.refs = [ref for step in reply.program.steps for ref in step.outputs]

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        assert self.here is not None
        command = data.draw(st.sampled_from(self.here.legal))
        target = data.draw(st.sampled_from(self.targets(command)))
        before = self.journal
        reply = self.ask(m.Control(command=command, target=target))
        if isinstance(reply, m.Failed):  # a branch whose program has no such operation
            assert any(branch.current and branch.edits for branch in self.here.branches)
            assert self.journal == before
            return
        assert isinstance(reply, m.Stopped)
        self.here = reply

    def targets(self, command: str) -> list[str]:
        assert self.here is not None
        if command == "thread":
            return [thread.name for thread in self.here.threads]
        return [ref.partition(":")[0] for ref in self.refs]

    @rule(data=st.data())
    def set_breakpoints(self, data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(self.targets("")), max_size=2))
        specs = [m.BreakpointSpec(target=name) for name in names]
        assert self.ask(m.SetBreakpoints(breakpoints=specs)) == m.Done()

    @rule(command=st.sampled_from(["new", "duplicate", "switch", "delete", "copy"]), data=st.data())
    def ask_of_sessions(self, command: str, data: st.DataObject) -> None:
        source, name = (data.draw(st.sampled_from(["main", "b", "c"])) for _ in range(2))
        request = m.ManageSessions(command=command, name=name, source=source, target=name)
        reply = self.ask(request)
        if isinstance(reply, m.SessionList):
            self.here = reply.stopped

    @rule(data=st.data())
    def assign(self, data: st.DataObject) -> None:
        """Another value for a variable, where that can be; else nothing happens."""
        assert self.document is not None
        there = variables(self.document.graph)
        name = data.draw(st.sampled_from([*there, "nowhere"]))
        shape = there[name].attrs["shape"].static() if name in there else ()
        value = np.full(shape, data.draw(st.sampled_from([0.0, 0.25, -1.0])), np.float32)
        before = self.journal
        request = m.Assign(name=name, dtype="float32", shape=[*shape])
        reply = self.ask(request, value.tobytes())
        if isinstance(reply, m.SessionList):
            self.here = reply.stopped
        else:
            assert self.journal == before

    @rule(data=st.data())
    def inject(self, data: st.DataObject) -> None:
        """Another value for any tensor, on a branch; where that cannot be, nothing happens."""
        name = data.draw(st.sampled_from(self.refs))
        reply, _ = self.service.handle(m.Read(refs=[name]))
        assert isinstance(reply, m.Values)
        part, before = reply.parts[0], self.journal
        value = np.full(part.shape, data.draw(st.sampled_from([0.5, -1.0])), np.float32)
        request = m.Inject(name=name, dtype="float32", shape=part.shape)
        reply = self.ask(request, value.tobytes())
        if isinstance(reply, m.SessionList):
            self.here = reply.stopped
        else:
            assert self.journal == before

    @rule(command=st.sampled_from(["switch", "rename", "drop"]), data=st.data())
    def ask_of_branches(self, command: Any, data: st.DataObject) -> None:
        assert self.here is not None
        names = [branch.name for branch in self.here.branches]
        name, to = (data.draw(st.sampled_from([*names, "x"])) for _ in range(2))
        reply = self.ask(m.ManageBranches(command=command, name=name, to=to))
        if isinstance(reply, m.SessionList):
            self.here = reply.stopped

    @rule(data=st.data(), back=st.booleans())
    def edit_on_a_branch(self, data: st.DataObject, back: bool) -> None:
        """Stop a wire, on a branch that runs what that makes of the program."""
        assert self.document is not None
        wires = [str(Edge(op.name, 0)) for op in self.document.graph if op.inputs]
        edited = [data.draw(st.sampled_from(wires))]
        kind = "unstop" if back else "stop"
        reply = self.ask(m.ManageBranches(command="edit", kind=kind, edited=edited))
        if isinstance(reply, m.SessionList):
            self.here = reply.stopped

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        """One that leaves names as they are: an operation more, another feed, the first again."""
        assert self.document is not None
        others = [
            self.document,
            document_edits.add_operation(self.document, "Const", (0, 0))[0],
            *(
                document_edits.set_feed(
                    self.document, feed, array.array + array.array.dtype.type(1)
                )
                for feed, array in self.document.feeds.items()
            ),
        ]
        if data.draw(st.booleans()):
            self.given.forget()  # as after a failure, when the whole document is sent
        settings = m.Open(trusted=True, keep_position=True)
        request, buffers = self.given.give(data.draw(st.sampled_from(others)), settings)
        reply = self.ask(request, *map(bytes, buffers))
        assert isinstance(reply, m.Opened | m.Edited)
        self.here = reply.stopped

    @rule()
    def fail(self) -> None:
        before = self.journal
        assert isinstance(self.ask(m.Control(command="frobnicate")), m.Failed)
        assert self.journal == before

    @precondition(lambda self: self.here is not None)
    @rule()
    def die_and_come_back(self) -> None:
        assert self.here is not None
        before, held = self.values(), self.held()
        self.service = EngineService(CpuOnly())
        replies = [self.service.handle(*request)[0] for request in self.journal.replay()]
        assert not any(isinstance(reply, m.Failed) for reply in replies)
        stopped = self.service.handle(m.Control(command="pause"))[0]
        assert isinstance(stopped, m.Stopped)
        assert (stopped.run, stopped.step, stopped.op) == (
            self.here.run,
            self.here.step,
            self.here.op,
        )
        assert (stopped.error is None) == (self.here.error is None)
        assert self.values() == before
        assert self.held() == held
        assert stopped.branches == self.here.branches
        self.here = stopped

    def held(self) -> list[tuple[str, int, int, dict[str, str]]]:
        """Of all sessions: where they stand, and with what."""
        reply, _ = self.service.handle(m.ManageSessions(command="list"))
        assert isinstance(reply, m.SessionList)
        return [(s.name, s.run, s.step, s.held) for s in reply.sessions]

    def values(self) -> list[bytes]:
        """Every tensor's state and bits, here."""
        reply, buffers = self.service.handle(m.Read(refs=self.refs))
        assert isinstance(reply, m.Values)
        return [p.state.encode() for p in reply.parts] + [bytes(buffer) for buffer in buffers]


Sessions.TestCase.settings = settings(max_examples=share(25), stateful_step_count=15, deadline=None)
TestSessions = pytest.mark.slow(Sessions.TestCase)


def test_nothing_was_open() -> None:
    assert SessionJournal().replay() == []


def test_a_document_that_could_not_be_opened_is_not_remembered() -> None:
    service = EngineService(CpuOnly())
    request = m.Open()
    reply, _ = service.handle(request, (b"broken",))
    assert SessionJournal().after(request, (b"broken",), reply) == SessionJournal()


class Engine:
    """One that is driven by hand, and what brings it back."""

    def __init__(self) -> None:
        self.service, self.journal = EngineService(CpuOnly()), SessionJournal()

    def ask(self, message: m.Message, *buffers: bytes) -> m.Message:
        reply, received = self.service.handle(message, buffers)
        self.journal = self.journal.after(message, buffers, reply, received)
        return reply

    def come_back(self) -> EngineService:
        """A new engine, led to where this one stands."""
        other = EngineService(CpuOnly())
        replies = [other.handle(*request)[0] for request in self.journal.replay()]
        assert not any(isinstance(reply, m.Failed) for reply in replies)
        return other


def test_threads_come_back_by_the_same_commands() -> None:
    engine = Engine()
    ask = engine.ask
    ask(m.Open(), gradstep_file.to_bytes(queue_document(3, 4)))
    ask(m.Control(command="continue_"))
    ask(m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="one_rows")]))
    for command, target in (("thread", "two"), ("continue_", ""), ("thread", "main"), ("step", "")):
        here = ask(m.Control(command=command, target=target))
    other = engine.come_back()
    assert other.handle(m.Control(command="pause"))[0] == here
    read = m.Read(refs=["q:0", "take:0", "one_count:0"])
    assert other.handle(read) == engine.service.handle(read)


@pytest.mark.parametrize(
    "after",
    [
        m.ManageSessions(command="new", name="b"),
        m.ManageSessions(command="duplicate", source="main", name="b"),
        m.Control(command="restart"),
    ],
)
def test_threads_stop_at_breakpoints_that_were_set_before(after: m.Message) -> None:
    """Sessions and a restart say anew how all came to where it stands, but not what stops it."""
    engine = Engine()
    ask = engine.ask
    ask(m.Open(), gradstep_file.to_bytes(queue_document(3, 4)))
    ask(m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="take")]))
    ask(after)
    here = ask(m.Control(command="continue_"))
    assert isinstance(here, m.Stopped)
    assert here.reason == "breakpoint"
    assert engine.come_back().handle(m.Control(command="pause"))[0] == here


def test_it_comes_back_into_the_same_iteration_of_the_same_loop() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            around = tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * x), (0, a))
            return i + 1, around[1]

        _, y = tf.while_loop(lambda i, a: i < 3, body, (0, x))
    feeds = {"x:0": Constant(np.float32(2))}
    document = Document(graph=builder.build(), fetches=(y.ref,), feeds=feeds)
    engine = Engine()
    ask = engine.ask
    product = next(op.name for op in within(document.graph) if op.type == "Mul")
    ask(m.Open(), gradstep_file.to_bytes(document))
    ask(m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target=product, hits=4)]))
    here = ask(m.Control(command="continue_"))
    assert isinstance(here, m.Stopped)
    assert [place.iteration for place in here.inside] == [1, 1]
    for elsewhere in ("", "other"):  # or it was left standing there, for another session
        if elsewhere:
            ask(m.ManageSessions(command="new", name=elsewhere))
        other = engine.come_back()
        if elsewhere:
            other.handle(m.ManageSessions(command="switch", name="main"))
            engine.service.handle(m.ManageSessions(command="switch", name="main"))
        there = other.handle(m.Control(command="pause"))[0]
        assert isinstance(there, m.Stopped)
        assert (there.step, there.inside) == (here.step, here.inside)
        read = m.Read(refs=["while/Merge_1:0"])
        assert other.handle(read) == engine.service.handle(read)


def test_it_looks_into_the_iterations_that_were_chosen() -> None:
    engine = Engine()
    document = gradstep_file.load(EXAMPLES / "while_loop.gradstep")
    opened = engine.ask(m.Open(), gradstep_file.to_bytes(document))
    assert isinstance(opened, m.Opened)
    engine.ask(m.Control(command="continue_"))
    for loop in opened.program.loops:
        here = engine.ask(m.Control(command="iteration", target=f"{loop.loop} 2"))
        assert isinstance(here, m.Stopped)
        assert any(shown.chosen for shown in here.loops)
        there = engine.come_back().handle(m.Control(command="pause"))[0]
        assert isinstance(there, m.Stopped)
        assert there.loops == here.loops
