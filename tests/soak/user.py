"""A user without a window: a document, its edits, and what the engine last said of it."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import Any, Protocol

from gradstep.core.document.document import Document
from gradstep.core.host.engine_client import Answer
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.followed_program import FollowedProgram
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from gradstep.gui.model.engine_sync import breakpoints_of, same_but_breakpoints, same_run
from tests.soak.editing import edited
from tests.soak.engines import Engine
from tests.soak.faults import Counts, require_foreseen


class User(Protocol):
    """What a walk does it through: the protocol, or the window.

    document: as it is now; index: how many of the edits that are kept are in force.
    program, stop: what the engine said last; None while it has not taken the document.
    """

    document: Document
    index: int
    program: m.ProgramInfo | None
    stop: m.Stopped | None
    trusted: bool
    limit: int
    ordered: bool  # whether the losses of `program` are in the engine's order

    def open(self, document: Document, trusted: bool, limit: int) -> None: ...
    def ask(self, message: m.Message) -> Answer: ...
    def control(self, command: str, target: str = "") -> m.Message: ...
    def train(self, steps: int) -> m.Message: ...
    def manage(self, request: m.ManageSessions) -> m.Message: ...
    def branch(self, request: m.Inject | m.ManageBranches, *buffers: bytes) -> m.Message: ...
    def edit(self, name: str, arguments: tuple[Any, ...]) -> None: ...
    def undo(self) -> bool: ...
    def redo(self) -> bool: ...
    def save(self, path: Path) -> None: ...
    def kill(self) -> None: ...
    def journal(self) -> SessionJournal: ...
    def more(self) -> dict[str, int]: ...
    def do_more(self, name: str, rng: Random) -> str: ...


class ProtocolUser:
    """Gives the engine what the window would give it, in the same order."""

    ordered = True

    def __init__(self, engine: Engine, counts: Counts) -> None:
        self.engine, self.counts = engine, counts
        self.document = Document()
        self.program: m.ProgramInfo | None = None
        self.stop: m.Stopped | None = None
        self.trusted, self.limit = True, 2 << 30
        self.index = 0
        self._versions: list[Document] = []
        self._shown: Document | None = None
        self._given = EngineDocument()
        self._followed = FollowedProgram()

    def open(self, document: Document, trusted: bool, limit: int) -> None:
        self.trusted, self.limit = trusted, limit
        self.document, self.index = document, 0
        self._versions, self._shown = [document], None
        self._give()

    def ask(self, message: m.Message, *sent: bytes) -> Answer:
        reply, buffers = self.engine.ask(message, sent)
        if isinstance(reply, m.Failed):
            require_foreseen([reply.error])
        return reply, buffers

    def control(self, command: str, target: str = "") -> m.Message:
        reply, _ = self.ask(m.Control(command=command, target=target))
        self._take(reply)
        return reply

    def train(self, steps: int) -> m.Message:
        """Stopped, or Failed."""
        reply, _ = self.ask(m.Train(steps=steps))
        if not isinstance(reply, m.Trained):
            return reply
        self._take(reply.stopped)
        return reply.stopped

    def manage(self, request: m.ManageSessions) -> m.Message:
        reply, _ = self.ask(request)
        if isinstance(reply, m.SessionList):
            self._take(reply.stopped)
        return reply

    def branch(self, request: m.Inject | m.ManageBranches, *buffers: bytes) -> m.Message:
        reply, _ = self.ask(request, *buffers)
        if isinstance(reply, m.SessionList):
            self._take(reply.stopped)
        return reply

    def edit(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.change(edited(self.document, name, arguments))

    def change(self, document: Document) -> None:
        """An edit, by what it leads to."""
        if document is not self.document:
            del self._versions[self.index + 1 :]
            self._versions.append(document)
            self._go(self.index + 1)

    def undo(self) -> bool:
        return self._go(self.index - 1)

    def redo(self) -> bool:
        return self._go(self.index + 1)

    def save(self, path: Path) -> None:
        gradstep_file.save(path, self.document)

    def kill(self) -> None:
        for reply in self.engine.kill():
            if isinstance(reply, m.SessionList):
                self._take(reply.stopped)
            elif isinstance(reply, m.Failed):
                require_foreseen([reply.error])
            else:
                self._take(reply)
        if self._shown is not self.document or self.program is None:
            self._open(keep_position=True)

    def rest(self, seconds: float) -> None:
        """Ask for nothing for so long."""
        time.sleep(seconds)

    def journal(self) -> SessionJournal:
        return self.engine.journal()

    def more(self) -> dict[str, int]:
        return {}

    def do_more(self, name: str, rng: Random) -> str:
        raise NotImplementedError(name)

    def _go(self, index: int) -> bool:
        if not 0 <= index < len(self._versions):
            return False
        self.index, self.document = index, self._versions[index]
        self._give()
        return True

    def _give(self) -> None:
        old, new = self._shown, self.document
        if old is not None and same_run(old, new):
            return
        if old is not None and same_but_breakpoints(old, new):
            self._shown = new
            self.ask(breakpoints_of(new))
        else:
            self._open(keep_position=old is not None)

    def _open(self, keep_position: bool) -> None:
        self._shown = self.document
        request = m.Open(
            trusted=self.trusted, keep_position=keep_position, recorded_limit=self.limit
        )
        reply, _ = self.engine.ask(*self._given.give(self.document, request))
        assert not isinstance(reply, m.OtherRevision), "nobody else gives it documents"
        if isinstance(reply, m.Failed):
            self._given.forget()
            self.program = self.stop = None
            require_foreseen([reply.error])
        self._take(reply)

    def _take(self, reply: m.Message) -> None:
        reply = self._followed.complete(reply)
        if isinstance(reply, m.Opened):
            self.program, self.stop = reply.program, reply.stopped
        elif isinstance(reply, m.Stopped):
            self.program, self.stop = reply.program or self.program, reply
        if self.program is not None and self.stop is not None:
            require_foreseen([self.stop.error, *self.program.problems])
