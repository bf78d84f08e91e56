"""Engines that start in no time: forked from a process that has loaded the program already. So are
processes of pools, those that read files, and commands.

To start Python and load NumPy and the program costs more than most tests of the window do with
their engine. What is forked is the engine itself, a process of its own that can be killed; tests
whose subject is how an engine starts take the real command (the marker `engine_process`).
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import io
import json
import os
import pkgutil
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]
ENTRY = [sys.executable, "-m", "gradstep.core.host.process.engine_entry"]  # starts an engine alone
_MOST = 1 << 20  # bytes of a request
_LATE = "gradstep.gpu.torch_device."  # what imports PyTorch, where that is and is wanted


class ForkedEngine:
    """What `subprocess.Popen` is to `gradstep.core.host.engine_connection`: the engine's number,
    pipes and end."""

    def __init__(self, server: Server, home: Path | None = None, confined: bool = False) -> None:
        own = {} if home is None else {"HOME": str(home)}
        environment = {**os.environ, **own}
        self._fork(server, environment, str(home or os.getcwd()), "confined" if confined else "")

    def _fork(
        self,
        server: Server,
        environment: Mapping[str, str],
        folder: str,
        kind: str,
        arguments: Sequence[str] = (),
    ) -> None:
        ours, theirs = _pipes()
        self._end, told = os.pipe()
        self.stdin = os.fdopen(ours[0], "wb")
        self.stdout, self.stderr = (os.fdopen(pipe, "rb") for pipe in ours[1:])
        self.returncode: int | None = None
        self._lock = threading.Lock()
        request = {
            "environment": {**environment},
            "folder": folder,
            "kind": kind,
            "arguments": [*arguments],
        }
        self.pid = server.fork([*theirs, told], request)
        for pipe in (*theirs, told):
            os.close(pipe)

    def poll(self) -> int | None:
        with self._lock:
            if self.returncode is None and select.select([self._end], [], [], 0)[0]:
                told = os.read(self._end, 32)
                os.close(self._end)
                self.returncode = int(told or -signal.SIGKILL)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        while (status := self.poll()) is None:
            with contextlib.suppress(OSError):  # another thread has just seen its end
                if not select.select([self._end], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("engine", timeout or 0.0)
        return status

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # the server has just seen it end
                os.kill(self.pid, number)


class ForkedWorker(ForkedEngine):
    """The same to `gradstep.core.host.workers.worker_process`, whose errors come out here."""

    def __init__(self, server: Server, environment: Mapping[str, str]) -> None:
        self._fork(server, environment, os.getcwd(), "worker")
        threading.Thread(target=self._pass_on, daemon=True).start()

    def _pass_on(self) -> None:
        with self.stderr as lines:
            for line in lines:
                sys.stderr.write(line.decode(errors="replace"))


class ForkedReader(ForkedEngine):
    """The same to `gradstep.core.host.file_reader`, which hears no errors."""

    def __init__(self, server: Server, folder: str, environment: Mapping[str, str]) -> None:
        self._fork(server, environment, folder, "reader")
        self.stderr.close()


class ForkedCommand(ForkedEngine):
    """`gradstep` with these arguments, in a clean environment."""

    def __init__(self, server: Server, arguments: Sequence[object]) -> None:
        from gradstep.core.program.sandbox import kept

        self._fork(server, kept(os.environ), os.getcwd(), "command", [*map(str, arguments)])

    def communicate(self, text: str = "") -> subprocess.CompletedProcess[str]:
        """Give it that, and wait for its end: what `subprocess.run` answers."""
        errors: list[bytes] = []
        reading = threading.Thread(target=lambda: errors.append(self.stderr.read()))
        reading.start()
        with self.stdin, self.stdout, self.stderr:
            self.stdin.write(text.encode())
            self.stdin.close()
            said = self.stdout.read()
            reading.join()
        return subprocess.CompletedProcess(
            "gradstep", self.wait(), *map(bytes.decode, (said, *errors))
        )


class Server:
    """The process that engines are forked from; one for all tests of a process, made when the
    first engine is wanted."""

    def __init__(self) -> None:
        self._channel: socket.socket | None = None
        self._lock = threading.Lock()

    def fork(self, pipes: Sequence[int], request: Mapping[str, Any]) -> int:
        """A new engine with these for 0, 1, 2, and the last to tell its exit status: its number.
        request: what `_become_engine` takes."""
        with self._lock:
            channel = self._channel = self._channel or _start()
            socket.send_fds(channel, [json.dumps(request).encode()], pipes)
            return int(channel.recv(32))


def _start() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", __name__, str(theirs.fileno())]
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT)
    theirs.close()
    atexit.register(server.wait)  # runs last: by then it has nobody to fork for
    atexit.register(ours.close)
    return ours


def _pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Our ends of an engine's standard streams, and its own."""
    (its_in, our_in), (our_out, its_out), (our_err, its_err) = os.pipe(), os.pipe(), os.pipe()
    return (our_in, our_out, our_err), (its_in, its_out, its_err)


# -- the server ----------------------------------------------------------------------------------


def _serve(channel: socket.socket) -> None:
    _load()
    _warm_up()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests; their end ends it
    watched = selectors.DefaultSelector()
    watched.register(channel, selectors.EVENT_READ)
    while True:
        for key, _ in watched.select():
            if key.fileobj is channel:
                if not _fork(channel, watched):
                    return
            else:
                watched.unregister(key.fileobj)
                _tell_end(key.fd, *key.data)


def _load() -> None:
    for package in ("gradstep.core", "gradstep.gpu"):
        module = importlib.import_module(package)
        for found in pkgutil.walk_packages(module.__path__, f"{package}."):
            if not found.name.endswith("__main__") and not found.name.startswith(_LATE):
                importlib.import_module(found.name)


def _warm_up() -> None:
    """Opens and runs a document, with what comes and goes packed as it will be: decoders are made,
    and what is remembered of types and rules is there, once instead of in each engine."""
    from gradstep.core.host.device_services import CpuOnly
    from gradstep.core.host.engine_service import EngineService
    from gradstep.core.io.native.document_diff import differences
    from gradstep.core.io.native.gradstep_file import load, to_bytes
    from gradstep.core.protocol import framing
    from gradstep.core.protocol.messages import CheckExpectations, Control, Open
    from tests.support import known_checks

    EngineService._HANDLERS = known_checks.handlers(EngineService._HANDLERS)
    service = EngineService(CpuOnly())
    tutorial = load(ROOT / "assets" / "examples" / "tutorial.gradstep")
    document, same = to_bytes(tutorial, readable=False), differences(tutorial, tutorial)
    members, no_edits = same.to_buffers()
    asked = (
        (Open(revision=1, trusted=True), [document]),
        (CheckExpectations(base=1, members=members, trusted=True), no_edits),
        (Control(command="continue_"), []),
    )
    for message, buffers in asked:
        stream = io.BytesIO()
        framing.write(stream, message, buffers)
        stream.seek(0)
        packet = framing.read_request(stream)
        assert packet is not None
        framing.write(stream, *service.handle(packet.message, packet.buffers))


def _fork(channel: socket.socket, watched: selectors.BaseSelector) -> bool:
    """Answer one request; False when nobody asks any more."""
    request, pipes, _, _ = socket.recv_fds(channel, _MOST, 4)
    if not request:
        return False
    child = os.fork()
    if child == 0:
        channel.close()
        _become_engine(pipes, **json.loads(request))
    channel.send(str(child).encode())
    for pipe in pipes[:3]:
        os.close(pipe)
    watched.register(os.pidfd_open(child), selectors.EVENT_READ, (child, pipes[3]))
    return True


def _tell_end(handle: int, child: int, pipe: int) -> None:
    os.close(handle)
    _, status = os.waitpid(child, 0)
    os.write(pipe, str(os.waitstatus_to_exitcode(status)).encode())
    os.close(pipe)


def _become_engine(
    pipes: Sequence[int],
    environment: dict[str, str],
    folder: str,
    kind: str,
    arguments: Sequence[str],
) -> NoReturn:
    """kind: "confined", one that confines itself; instead of one "worker", the process of a pool,
    "reader", that of a file, or "command", that of the command line with these arguments."""
    from gradstep.core.cli.command_line import main
    from gradstep.core.cli.engine import window_console
    from gradstep.core.host.file_worker import main as read_file
    from gradstep.core.host.process.engine_entry import run_engine
    from gradstep.core.host.workers.worker_entry import run_worker
    from gradstep.core.program.sandbox import bubblewrap, kept
    from gradstep.main import Gradstep

    if kind == "confined":  # and without beginning anew, as what was forked
        environment = kept(environment)
        bubblewrap.why_not = lambda: "it would start another program"
    status = 70
    try:
        os.setsid()
        for number, pipe in enumerate(pipes[:3]):
            os.dup2(pipe, number)
        os.closerange(3, _MOST)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        if kind == "worker":
            status = run_worker(Gradstep().devices)
        elif kind == "reader":
            status = read_file()
        elif kind == "command":
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.stdin = os.fdopen(0)  # anew: of the server's own some are files
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            status = main(arguments, Gradstep())
            sys.stdout.flush()
        else:
            status = run_engine(Gradstep().devices, kind == "confined", window_console)
    finally:
        sys.stderr.flush()
        os._exit(status)


def fork_engines(
    server: Server,
    monkeypatch: Any,
    command: Sequence[str] = (),
    home: Path | None = None,
) -> None:
    """What `command` starts is forked from now on until the test ends, with another home folder
    perhaps; without one every engine on this machine, those that confine themselves, too, where the
    kernel has what that takes."""
    from gradstep.core.host import engine_connection
    from gradstep.core.host.engine_client import local_engine
    from gradstep.core.host.process.engine_entry import CONFINED
    from gradstep.core.program.sandbox.confinement import _why_not_from_within

    plain = [*command] or local_engine()
    confined = [] if command else [*plain, CONFINED]
    real = engine_connection._spawn

    def spawn(argv: Sequence[str]) -> Any:
        asked = list(argv)
        if asked == plain:
            return ForkedEngine(server, home)
        if asked == confined and not _why_not_from_within():
            return ForkedEngine(server, home, confined=True)
        return real(argv)

    monkeypatch.setattr(engine_connection, "_spawn", spawn)


def fork_readers(server: Server, monkeypatch: Any) -> None:
    """Every process that reads a file is forked until the test ends."""
    from gradstep.core.host import file_reader

    def start(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], **_: object) -> Any:
        assert [*command][1:] == ["-m", "gradstep.core.host.file_worker"]
        return ForkedReader(server, str(cwd), env)

    forking = SimpleNamespace(**{**vars(subprocess), "Popen": start})
    monkeypatch.setattr(file_reader, "subprocess", forking)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
