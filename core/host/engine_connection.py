"""One engine process from its start to its end: its pipes, and the requests it has not answered."""

from __future__ import annotations

import itertools
import logging
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import IO

from gradstep.core.errors import GradstepError
from gradstep.core.host.lent_files import LentFiles
from gradstep.core.host.process.event_outlet import INTERVAL, Outlet
from gradstep.core.host.process.exit_sentence import how_it_ended
from gradstep.core.host.process.logging_setup import echo
from gradstep.core.host.process.process_tree import ProcessTree
from gradstep.core.host.process.stderr_tail import LastLines
from gradstep.core.host.remote_engine import RemoteEngine
from gradstep.core.protocol import framing
from gradstep.core.protocol.error_records import info_of
from gradstep.core.protocol.framing import Buffer, Packet
from gradstep.core.protocol.message_base import kind_of
from gradstep.core.protocol.message_recording import start_recording
from gradstep.core.protocol.messages import Failed, FileWanted, Greet, Greeted, Message
from gradstep.core.protocol.protocol_digest import protocol_digest
from gradstep.core.version import version

Callback = Callable[[Message, tuple[Buffer, ...]], None]

_log = logging.getLogger("gradstep.host")
_DRAIN = 1.0  # seconds for answers still in the pipe after the process has ended
_MOST = 1 << 18  # characters of printed text at once, from an engine that does not hold back
_BURST = 100  # events after which we take a rest: who sends more than ours would has to wait
_CHUNK = 1 << 16  # bytes of standard error that are looked at together


class Connection:
    """A running engine. `on_event` gets the connection and what it sends unasked; `on_end` is
    called once, after the last callback, with the connection and why it ended. Both come on threads
    of the connection. remote: where it is, on another machine; then `files` are lent to it.

    Raises GradstepError (EngineDied) when the process cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        on_event: Callable[[Connection, Message], None],
        on_end: Callable[[Connection, GradstepError], None],
        remote: RemoteEngine | None = None,
        files: LentFiles | None = None,
    ) -> None:
        self._on_end = on_end
        self._remote, self._files, self._greeted = remote, files, False
        self._lock = threading.Lock()
        self._numbers = itertools.count(framing.EVENT + 1)
        self._pending: dict[int, Callback] = {}
        self._outbox: queue.SimpleQueue[tuple[Message, Sequence[Buffer], int]] = queue.SimpleQueue()
        self._end: GradstepError | None = None
        self._broken: GradstepError | None = None  # why it was given up
        self._unread: GradstepError | None = None  # what came and cannot be understood
        self._events = 0
        self._outlet = Outlet(lambda event: _call(on_event, self, event), _MOST)
        self._last = LastLines()
        self._sent: dict[int, float] = {}  # when requests were, where the log is to say it
        self._recorder = start_recording()
        try:
            self._process = _spawn(argv)
        except GradstepError as error:
            raise error if remote is None else remote.no_ssh() from error
        _log.info("engine %d started: %s", self.pid, " ".join(argv))
        self._tree = ProcessTree(self._process)
        self._reader = self._thread(self._read)
        self._thread(self._write)
        self._errors = self._thread(self._listen)
        self._watcher = self._thread(self._watch)
        if remote is not None:
            self.send(Greet(version=version()), (), partial(self._meet, remote))

    @property
    def alive(self) -> bool:
        return self._end is None and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def last_lines(self) -> list[str]:
        """The end of what it wrote on its standard error."""
        return self._last.lines

    def send(self, message: Message, buffers: Sequence[Buffer], reply_to: Callback) -> None:
        """Queue a request. `reply_to` is called once: with the reply, or with Failed
        (EngineDied) when the process ends first; at once when it has ended already."""
        with self._lock:
            end = self._end
            if end is None:
                number = next(self._numbers)
                self._pending[number] = reply_to
                self._outbox.put((message, buffers, number))
        if end is not None:
            reply_to(Failed(error=info_of(end)), ())

    def kill(self) -> None:
        """End the process and all that it started at once; pending requests fail a moment
        later."""
        self._tree.end()

    def join(self) -> None:
        """Wait until the process has ended and every pending request has been told."""
        if threading.current_thread() is not self._watcher:
            self._watcher.join()

    # -- the four threads ----------------------------------------------------------------------

    def _write(self) -> None:
        with suppress(OSError), _pipe(self._process.stdin) as stream:  # closing writes, too
            while True:
                message, buffers, number = self._outbox.get()
                if self._end is not None:
                    return
                self._tell(message, buffers, number, stream)

    def _read(self) -> None:
        with _pipe(self._process.stdout) as stream:
            try:
                while (packet := framing.read_answer(stream)) is not None:
                    self._deliver(packet)
            except GradstepError as error:
                self._unread = error
                if self._remote is None or not self._ends_by_itself():
                    self._give_up(self._unreadable(error))
        self.kill()  # it can no longer be understood

    def _listen(self) -> None:
        pass_on = echo()
        with _pipe(self._process.stderr) as stream:
            while data := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                self._last.add(data)
                pass_on(data)

    def _watch(self) -> None:
        status = self._process.wait()
        self._tree.sweep()
        # A process that the user's code left behind may hold the pipes open: do not wait for it.
        self._reader.join(_DRAIN)
        self._errors.join(_DRAIN)
        error = self._broken or self._why(status)
        _log.info("engine %d: %s", self.pid, error.message)
        with self._lock:
            self._end = error
            pending, self._pending = self._pending, {}
        self._outlet.flush()
        if self._recorder is not None:
            self._recorder.close()
        for reply_to in pending.values():
            _call(reply_to, Failed(error=info_of(error)), ())
        self._outbox.put((Failed(error=info_of(error)), (), framing.EVENT))  # wakes the writer
        _call(self._on_end, self, error)

    def _tell(
        self, message: Message, buffers: Sequence[Buffer], number: int, stream: IO[bytes]
    ) -> None:
        """Send one request."""
        if self._recorder is not None:
            self._recorder.add_request(message, buffers, number)
        if not _log.isEnabledFor(logging.DEBUG):
            framing.write(stream, message, buffers, number)
            return
        self._sent[number] = time.perf_counter()
        size = framing.write(stream, message, buffers, number)
        _log.debug(
            "#%d %s sent: %d buffers, %d bytes", number, kind_of(message), len(buffers), size
        )

    def _log_answer(self, packet: Packet) -> None:
        if not _log.isEnabledFor(logging.DEBUG):
            return
        sent, kind = self._sent.pop(packet.request, None), kind_of(packet.message)
        took = "" if sent is None else f" after {1000 * (time.perf_counter() - sent):.1f} ms"
        count, size = len(packet.buffers), packet.size
        _log.debug("#%d %s came%s: %d buffers, %d bytes", packet.request, kind, took, count, size)

    def _deliver(self, packet: Packet) -> None:
        if self._recorder is not None:
            self._recorder.add_answer(packet)
        self._log_answer(packet)
        if isinstance(packet.message, FileWanted):
            self._lend(packet.message)
            return
        if packet.request == framing.EVENT:
            self._outlet.offer(packet.message)
            self._events += 1
            if self._events % _BURST == 0:
                time.sleep(INTERVAL)
            return
        self._outlet.flush()  # what was said before the reply comes before it
        with self._lock:
            reply_to = self._pending.pop(packet.request, None)
        if reply_to is not None:
            _call(reply_to, packet.message, packet.buffers)

    # -- of an engine on another machine -------------------------------------------------------

    def _meet(self, remote: RemoteEngine, reply: Message, _: tuple[Buffer, ...]) -> None:
        """Whether it can be talked to is known with the first answer."""
        if isinstance(reply, Failed) and reply.error.type == "EngineDied":
            return  # it ended before
        here, there = version(), reply.version if isinstance(reply, Greeted) else ""
        agree = isinstance(reply, Greeted) and reply.protocol == protocol_digest()
        if here != there or not agree:
            self._give_up(remote.other_version(here, there))
            self.kill()
        self._greeted = True

    def _lend(self, wanted: FileWanted) -> None:
        """Answer it beside the thread that reads."""
        files = self._files
        if files is None:
            return

        def answer() -> None:
            reply, buffers = files.answer(wanted)
            self.send(reply, buffers, _ignore)

        threading.Thread(target=answer, name="lend", daemon=True).start()

    def _unreadable(self, error: GradstepError) -> GradstepError:
        if self._remote is not None and not self._greeted:
            return self._remote.talks(error.message)
        return _died(error.message)

    def _give_up(self, why: GradstepError) -> None:
        self._broken = self._broken or why

    def _why(self, status: int) -> GradstepError:
        """Why it ended."""
        if self._remote is None:
            return _died(how_it_ended(status))
        if found := self._remote.end(status, self._last.lines, self._greeted):
            return found
        if self._unread is not None:
            return self._unreadable(self._unread)
        return _died(how_it_ended(status), self._remote.host)

    def _ends_by_itself(self) -> bool:
        """Whether the stream broke off because the process was at its end."""
        try:
            self._process.wait(_DRAIN)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _thread(self, run: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=run, name=f"engine{run.__name__}", daemon=True)
        thread.start()
        return thread


def _spawn(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            list(argv), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        raise GradstepError(
            f"the engine could not be started: {argv[0]}: {error.strerror}",
            kind="EngineDied",
            hint="check the command that starts the engine",
        ) from error


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # all three were asked for
    return stream


def _call(callback: Callable[..., None], *args: object) -> None:
    """A callback's failure is logged: it must not stop the thread that the others depend on."""
    try:
        callback(*args)
    except Exception:
        _log.exception("a callback of the engine's client failed")


def _died(why: str, where: str = "") -> GradstepError:
    there = f" on {where}" if where else ""
    return GradstepError(
        f"the engine process{there} ended: {why}", kind="EngineDied", hint="Restart engine"
    )


def _ignore(*args: object) -> None:
    pass
