"""Following a training over its socket, where one may wait: for the terminal."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

from gradstep.core.capture.training_door import HOST, TrainingDoor, door_at, not_the_training
from gradstep.core.capture.training_lines import LONGEST, Greeting, TrainingLine, read_line
from gradstep.core.capture.training_sockets import remove_stale, training_sockets
from gradstep.core.errors import GradstepError

_PATIENCE = 5.0  # seconds in which a training has to say who it is


def find_trainings() -> list[tuple[Path, Greeting]]:
    """Those that answer; sockets of dead processes are removed. Raises GradstepError for a folder
    that may be somebody else's."""
    found = [(path, _greeting(path)) for path in training_sockets()]
    return [(path, greeting) for path, greeting in found if greeting is not None]


def hear_training(path: Path) -> Iterator[TrainingLine]:
    """What it says, until its end; the first line is a Greeting. Raises GradstepError."""
    door = door_at(path)
    with _call(path, door) as wire, wire.makefile("rb") as lines:
        if door is not None and lines.readline(len(door.answer)) != door.answer:
            remove_stale(path)
            raise not_the_training(path)
        while line := lines.readline(LONGEST + 1):
            found = read_line(line)
            wire.settimeout(None)
            yield found


def _greeting(path: Path) -> Greeting | None:
    try:
        first = next(hear_training(path), None)  # which goes, and hangs up
    except (GradstepError, OSError):
        return None
    return first if isinstance(first, Greeting) else None


def _call(path: Path, door: TrainingDoor | None) -> socket.socket:
    family = socket.AF_UNIX if door is None else socket.AF_INET
    wire = socket.socket(family, socket.SOCK_STREAM)
    wire.settimeout(_PATIENCE)
    try:
        wire.connect(str(path) if door is None else (HOST, door.port))
        wire.sendall(b"" if door is None else door.knock)
    except OSError as error:
        wire.close()
        if isinstance(error, ConnectionRefusedError):
            remove_stale(path)
        raise GradstepError(
            f"nobody listens at {path}: {error.strerror or error}",
            kind="ConnectionError",
            hint="gradstep follow --list says who does",
        ) from None
    return wire
