"""An engine that was killed comes back to where it stood: some kills, many walks without one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.protocol import messages as m
from tests.kill.engine import Found, Walk, campaign
from tests.support.forked_engine import ENTRY, Server, fork_engines


class InProcess:
    """What a client does, around an engine that is no process: a restart makes another one."""

    alive = False

    def __init__(self) -> None:
        self._journal, self._service = SessionJournal(), EngineService(CpuOnly())

    def send(self, message: m.Message, buffers: Any = (), reply_to: Any = None) -> None:
        reply, received = self._service.handle(message, buffers)
        self._journal = self._journal.after(message, buffers, reply, received)
        reply_to(reply, received)

    def restart(self, reply_to: Any) -> int:
        self._service = EngineService(CpuOnly())
        requests = self._journal.replay()
        for message, buffers in requests:
            reply_to(*self._service.handle(message, buffers))
        return len(requests)


class Replay(Walk):
    """A walk at whose end nobody is killed."""

    def _die(self) -> None:
        pass

    def _measure(self) -> None:
        pass


@pytest.mark.parametrize("part", range(4))
@pytest.mark.slow
def test_the_journal_leads_back(part: int) -> None:
    """Edits after copies between sessions, restarts of these, threads with breakpoints, …"""
    found = Found()
    for number in range(6 * part, 6 * part + 6):
        name = f"journal {number}"
        Replay(InProcess(), random.Random(name), found, name).go()  # type: ignore[arg-type]
    assert (found.lost, found.internal_errors) == (0, 0), found.notes


@pytest.mark.slow
def test_killed_engines_come_back(engine_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    fork_engines(engine_server, monkeypatch, ENTRY)
    found = campaign(4, 5, lambda _: None)
    assert found.cases == 4
    assert found.is_clean, found.notes
