"""Ports at which trainings can be followed: who is let in, and whom one speaks with."""

from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.core.capture.training_connection import find_trainings, hear_training
from gradstep.core.capture.training_door import door_at
from gradstep.core.capture.training_lines import TrainedStep
from gradstep.core.capture.training_sockets import training_sockets
from gradstep.core.errors import GradstepError
from tests.support.fake_training import ANSWER, PASSWORD, FakeTraining, socket_folder, step

WHOLE = {"port": 4000, "password": PASSWORD, "answer": ANSWER}


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gs") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setattr(tempfile, "tempdir", runtime)
        found = socket_folder(Path(runtime))
        found.mkdir(mode=0o700, parents=True)
        yield found


def written(folder: Path, told: object, mode: int = 0o600) -> Path:
    path = folder / "77.door"
    path.write_text(told if isinstance(told, str) else json.dumps(told))
    path.chmod(mode)
    return path


def test_who_knows_the_password_hears_the_training(folder: Path) -> None:
    training = FakeTraining(folder, 77, [step(1, 4.0)], port=True)
    [(path, greeting)] = find_trainings()
    assert (path, greeting.pid) == (training.path, 77)
    lines = hear_training(path)
    assert [next(lines), next(lines)][1] == TrainedStep(1, 4.0)
    lines.close()
    assert {*training.knocks} == {f"{PASSWORD}\n".encode()}
    training.end()


def test_a_socket_is_no_door(folder: Path) -> None:
    training = FakeTraining(folder, 77)
    assert door_at(training.path) is None
    training.end()


@pytest.mark.parametrize(
    "told",
    ["", "{", "[1]", WHOLE | {"port": 0}, WHOLE | {"port": "80"}, WHOLE | {"password": "x"},
     WHOLE | {"answer": "A" * 64}, WHOLE | {"answer": None}, {"port": 80}],
)  # fmt: skip
def test_a_file_that_tells_of_no_port(folder: Path, told: object) -> None:
    with pytest.raises(GradstepError, match="tells of no port to follow a training at"):
        door_at(written(folder, told))
    assert find_trainings() == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_one_that_others_can_read_is_not_believed(folder: Path, mode: int) -> None:
    with pytest.raises(GradstepError, match="can be read by others"):
        door_at(written(folder, WHOLE, mode))


def test_a_link_is_no_door(folder: Path) -> None:
    written(folder.parent, WHOLE)
    (folder / "77.door").symlink_to(folder.parent / "77.door")
    assert training_sockets() == []


def test_somebody_else_at_its_port_is_not_heard(folder: Path) -> None:
    """A training is dead, and its port has gone to another program."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        path = written(folder, WHOLE | {"port": other.getsockname()[1]})

        def greet() -> None:
            wire, _ = other.accept()
            with wire:
                wire.recv(65)
                wire.sendall(b'{"gradstep": "watch"}'.ljust(64) + b"\n")

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        with pytest.raises(GradstepError, match="is not the training"):
            next(hear_training(path))
        thread.join()
    assert not path.exists()


def test_where_nobody_listens_the_door_goes(folder: Path) -> None:
    training = FakeTraining(folder, 77, port=True)
    training.end()
    assert find_trainings() == []
    assert not training.path.exists()
