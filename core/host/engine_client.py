"""The engine as the window and the tests see it: a process that can be asked, killed, restarted."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_connection import Callback, Connection
from gradstep.core.host.lent_files import LentFiles
from gradstep.core.host.process.engine_entry import CONFINED
from gradstep.core.host.remote_engine import EngineChoice, RemoteEngine
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol.error_records import error_of
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Failed, Message

_LOG = logging.getLogger("gradstep.host")

Answer = tuple[Message, tuple[Buffer, ...]]


def local_engine() -> list[str]:
    """The command that starts the engine on this machine."""
    return [sys.executable, "-P", "-m", "gradstep.main", "engine", "--stdio"]


def _ignore(*args: object) -> None:
    pass


class EngineClient:
    """Requests to one engine process, and its replacement when it dies.

    engine:   the command that starts it, or where it is on another machine; None for one here.
    on_event: gets Output, Progress and TrainingProgress messages.
    on_death: gets a GradstepError (EngineDied) when the process ends unasked, or by `kill`.

    Callbacks come on the client's threads (`send`'s at once when the engine has died), and must
    not wait for another reply there; a window hands them over to its own thread.
    """

    def __init__(
        self,
        engine: EngineChoice = None,
        on_event: Callable[[Message], None] = _ignore,
        on_death: Callable[[GradstepError], None] = _ignore,
    ) -> None:
        self.use(engine)
        self.files = LentFiles()  # to an engine on another machine
        self.confined = False  # without network and files, from the next start on
        self._on_event, self._on_death = on_event, on_death
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._journal = SessionJournal()

    @property
    def alive(self) -> bool:
        return self._connection is not None and self._connection.alive

    @property
    def pid(self) -> int:
        """Process number of the engine; 0 when it was never started."""
        return 0 if self._connection is None else self._connection.pid

    @property
    def last_lines(self) -> list[str]:
        """What the engine last wrote on its standard error."""
        return [] if self._connection is None else list(self._connection.last_lines)

    def use(self, engine: EngineChoice) -> None:
        """Where the next process is started, as for a new client."""
        remote = engine if isinstance(engine, RemoteEngine) else None
        command = engine.argv if isinstance(engine, RemoteEngine) else engine
        self.remote, self.argv = remote, list(command or local_engine())

    def start(self) -> None:
        """Start the process. Raises GradstepError (EngineDied) when it cannot be started."""
        with self._lock:  # a process that ends at once is told only after it is known
            argv = [*self.argv, CONFINED] if self.confined else self.argv
            self._connection = Connection(argv, self._heard, self._ended, self.remote, self.files)

    def send(
        self, message: Message, buffers: Sequence[Buffer] = (), reply_to: Callback = _ignore
    ) -> None:
        """Send a request without waiting. `reply_to(reply, buffers)` is called exactly once."""
        connection = self._connected()

        def answered(reply: Message, received: tuple[Buffer, ...]) -> None:
            with self._lock:
                if connection is self._connection:
                    self._journal = self._journal.after(message, buffers, reply, received)
            reply_to(reply, received)

        connection.send(message, buffers, answered)

    def call(
        self, message: Message, buffers: Sequence[Buffer] = (), timeout: float | None = None
    ) -> Answer:
        """Send a request and wait for its reply. Raises GradstepError: what the engine says, or
        EngineDied, or DeadlineExceededError after `timeout` seconds."""
        future: Future[Answer] = Future()
        self.send(message, buffers, lambda *answer: future.set_result(answer))
        try:
            reply, received = future.result(timeout)
        except TimeoutError:
            raise GradstepError(
                f"the engine did not answer within {timeout:g} seconds",
                kind="DeadlineExceededError",
                hint="Restart engine",
            ) from None
        if isinstance(reply, Failed):
            raise error_of(reply.error)
        return reply, received

    def kill(self) -> None:
        """End the process at once, whatever it does; pending requests fail with EngineDied."""
        if self._connection is not None:
            self._connection.kill()

    def forget(self) -> None:
        """What was asked so far is not to be asked again of the next process."""
        with self._lock:
            self._journal = SessionJournal()

    def permit(self, permission: Permission) -> None:
        """The user decided anew about the Python of the document that was opened last."""
        with self._lock:
            self._journal = self._journal.permitted(permission)

    def restart(self, reply_to: Callback = _ignore) -> int:
        """Replace the process, and lead the new one to where the old one stood.

        `reply_to` gets each reply on the way: Opened, then Stopped at the old step, then Done
        for the breakpoints (those that apply). Returns how many will come, and does not wait.
        """
        old = self._connection
        self.start()
        if old is not None:
            old.kill()
        connection = self._connected()
        requests = self._journal.replay()
        _LOG.info("engine restarted: %d requests lead it to where the old one stood", len(requests))
        for message, buffers in requests:
            connection.send(message, buffers, reply_to)
        return len(requests)

    def close(self) -> None:
        """End the process for good and wait until it is gone."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.kill()
            connection.join()

    def _connected(self) -> Connection:
        if self._connection is None:
            self.start()
        assert self._connection is not None
        return self._connection

    def _heard(self, connection: Connection, event: Message) -> None:
        with self._lock:
            if connection is not self._connection:
                return  # the process was replaced
            self._journal = self._journal.on_the_way(event)
        self._on_event(event)

    def _ended(self, connection: Connection, error: GradstepError) -> None:
        with self._lock:
            current = connection is self._connection
        if current:
            self._on_death(error)
