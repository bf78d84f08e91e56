"""Replay: whatever was done, a new engine comes to the same step with the same values."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from core.host import messages as m
from core.host.devices import CpuOnly
from core.host.journal import Journal
from core.host.service import EngineService

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


class Sessions(RuleBasedStateMachine):
    """A session that is driven at random, and now and then brought back in a new engine."""

    def __init__(self) -> None:
        super().__init__()
        self.service = EngineService(CpuOnly())
        self.journal = Journal()
        self.here: m.Stopped | None = None
        self.refs: list[str] = []

    def ask(self, message: m.Message, *buffers: bytes) -> m.Message:
        reply, _ = self.service.handle(message, buffers)
        self.journal = self.journal.after(message, buffers, reply)
        return reply

    @initialize(name=st.sampled_from(["tutorial", "override_add", "gather"]))
    def open(self, name: str) -> None:
        data = (EXAMPLES / f"{name}.gradstep").read_bytes()
        reply = self.ask(m.Open(trusted=True), data)
        assert isinstance(reply, m.Opened)
        self.here = reply.stopped
        self.refs = [ref for step in reply.program.steps for ref in step.outputs]

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        assert self.here is not None
        command = data.draw(st.sampled_from(self.here.legal))
        target = data.draw(st.sampled_from(self.refs)).partition(":")[0]
        reply = self.ask(m.Control(command=command, target=target))
        assert isinstance(reply, m.Stopped)
        self.here = reply

    @rule(names=st.lists(st.sampled_from(["a", "loss", "c", "b"]), max_size=2))
    def set_breakpoints(self, names: list[str]) -> None:
        specs = [m.BreakpointSpec(target=name) for name in names]
        assert self.ask(m.SetBreakpoints(breakpoints=specs)) == m.Done()

    @rule()
    def fail(self) -> None:
        before = self.journal
        assert isinstance(self.ask(m.Control(command="frobnicate")), m.Failed)
        assert self.journal == before

    @precondition(lambda self: self.here is not None)
    @rule()
    def die_and_come_back(self) -> None:
        assert self.here is not None
        before = self.values()
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
        self.here = stopped

    def values(self) -> list[bytes]:
        """Every tensor's state and bits, here."""
        reply, buffers = self.service.handle(m.Read(refs=self.refs))
        assert isinstance(reply, m.Values)
        return [p.state.encode() for p in reply.parts] + [bytes(buffer) for buffer in buffers]


Sessions.TestCase.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
TestSessions = Sessions.TestCase


def test_nothing_was_open() -> None:
    assert Journal().replay() == []


def test_a_document_that_could_not_be_opened_is_not_remembered() -> None:
    service = EngineService(CpuOnly())
    request = m.Open()
    reply, _ = service.handle(request, (b"broken",))
    assert Journal().after(request, (b"broken",), reply) == Journal()
