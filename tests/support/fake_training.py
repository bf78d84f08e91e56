"""A training that can be followed, without PyTorch: what says the exporter's lines on a socket."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PASSWORD, ANSWER = "5" * 64, "a" * 64  # of a port
GREETING = {
    "gradstep": "watch",
    "version": 1,
    "title": "Net",
    "script": "/home/me/work/train.py",
    "pid": 4711,
    "torch": "2.13.0",
    "step": 2,
}


def step(number: int, loss: float, **norms: Mapping[str, float]) -> dict[str, Any]:
    """The line of a step."""
    return {"step": number, "loss": loss, **norms}


class FakeTraining:
    """Listens in `folder` as `pid`, at a socket or at a port, greets whoever calls, and says the
    same `lines` to each; `say` says more to all that are there. As the exporter, it never waits for
    who reads. knocks: what was said first at a port."""

    def __init__(
        self,
        folder: Path,
        pid: int = 4711,
        lines: Sequence[object] = (),
        port: bool = False,
        **greeting: object,
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / f"{pid}.{'door' if port else 'sock'}"
        self._first = [GREETING | {"pid": pid} | greeting, *lines]
        self._wires: list[socket.socket] = []
        self.knocks: list[bytes] = []
        self._door = _port(self.path) if port else _socket(self.path)
        self._thread = threading.Thread(target=self._let_in, daemon=True)
        self._thread.start()

    def say(self, *lines: object) -> None:
        """Objects as lines of JSON, bytes as they are."""
        for wire in self._wires:
            _send(wire, lines)

    def end(self) -> None:
        """As a process that is killed: the socket's file stays."""
        if not self._thread.is_alive():
            return
        self._door.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._door.close()
        for wire in self._wires:
            wire.close()

    @property
    def is_called(self) -> bool:
        """Whether anybody has called."""
        return bool(self._wires)

    def _let_in(self) -> None:
        while True:
            try:
                wire, _ = self._door.accept()
            except OSError:
                return
            if self.path.suffix == ".door":
                self.knocks.append(wire.recv(65))
                _send(wire, [f"{ANSWER}\n".encode()])
            _send(wire, self._first)
            self._wires.append(wire)


def _socket(path: Path) -> socket.socket:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(str(path))
    door.listen()
    return door


def _port(path: Path) -> socket.socket:
    door = socket.create_server(("127.0.0.1", 0))
    told = {"port": door.getsockname()[1], "password": PASSWORD, "answer": ANSWER}
    path.touch(0o600)
    path.write_text(json.dumps(told))
    return door


def _send(wire: socket.socket, lines: Sequence[object]) -> None:
    data = b"".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
    )
    with suppress(OSError):  # who called has hung up: it only looked who is there
        wire.sendall(data)


def socket_folder(runtime: Path) -> Path:
    """Where its socket belongs, for a session whose runtime folder is this one."""
    os.chmod(runtime, 0o700)
    return runtime / "gradstep" / "watch"
