"""gradstep follow: the lines of a training until its end; which trainings there are."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.cli.conftest import Cli
from tests.support.fake_training import FakeTraining, socket_folder, step

RECORDED = Path(__file__).parents[2] / "data" / "traces" / "followed_to_nan.jsonl"
LINES = (
    step(1, 4.0),
    step(2, 3.0, gradient={"fc": 1.5, "out": 2.5}, weight={"fc": 7.0}),
    {"saved": "/bad.gstrace", "step": 2, "why": "norm(grad) > 2"},
    {"ended": 2, "error": ""},
)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short path: one of a socket has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="gs") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setattr(tempfile, "tempdir", runtime)
        yield socket_folder(Path(runtime))


@pytest.mark.parametrize("port", [False, True])
def test_the_only_one_is_followed_to_its_end(cli: Cli, folder: Path, port: bool) -> None:
    training = FakeTraining(folder, 4711, LINES, port)
    result = cli("follow")
    assert result.out.splitlines() == [
        "train.py (Net), process 4711, PyTorch 2.13.0",
        "step 1  loss 4",
        "step 2  loss 3  gradient fc 1.5 out 2.5  weight fc 7",
        "step 2 is saved, where norm(grad) > 2: /bad.gstrace",
        "ended, at step 2",
    ]
    assert result.status == 0
    assert cli("follow", 4711).out == cli("follow", training.path).out == result.out
    training.end()


def test_with_json_each_line_is_an_object_and_nan_a_string(cli: Cli, folder: Path) -> None:
    recorded = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    training = FakeTraining(folder, 4711, recorded[1:])
    said = [json.loads(line) for line in cli("follow", "--json").out.splitlines()]
    assert len(said) == len(recorded)
    assert said[0]["pid"] == 4711
    assert said[5] == recorded[5]
    assert said[137]["loss"] == "NaN"
    assert said[-2:] == recorded[-2:]
    training.end()


def test_of_several_the_list_and_dead_ones_go(cli: Cli, folder: Path) -> None:
    first = FakeTraining(folder, 11, script="/a/first.py", step=70000)
    other = FakeTraining(folder, 12, LINES, script="/a/other.py")
    dead = FakeTraining(folder, 13)
    dead.end()
    result = cli("follow")
    assert [line.split() for line in result.out.splitlines()] == [
        ["process", "script", "model", "step"],
        ["11", "first.py", "Net", "70,000"],
        ["12", "other.py", "Net", "2"],
    ]
    assert not dead.path.exists()
    assert cli("follow", "--list", "--json").json["trainings"][1]["socket"] == str(other.path)
    assert "other.py" in cli("follow", 12).out
    first.end()
    other.end()


def test_where_there_is_none_it_is_said_how_there_is_one(cli: Cli, folder: Path) -> None:
    result = cli("follow")
    assert result.status == 1
    assert "there is no training that can be followed" in result.err
    assert "with gradstep.watch(model, loss=…)" in result.err
    assert "process 7 has no training" in cli("follow", 7).err
    assert "nobody listens at" in cli("follow", folder / "7.sock").err
    assert cli("follow", "--list").out == "no training can be followed now\n"


def test_a_training_that_is_killed_or_fails_is_told_by_the_status(cli: Cli, folder: Path) -> None:
    training = FakeTraining(folder, 4711, [*LINES[:2], {"ended": 2, "error": "ValueError"}])
    result = cli("follow")
    assert result.status == 1
    assert result.out.endswith("ended, by ValueError, at step 2\n")
    training.end()


def test_what_is_no_training_ends_in_one_sentence(cli: Cli, folder: Path) -> None:
    training = FakeTraining(folder, 4711, [b"\x1b[2Jgarbage\n"])
    result = cli("follow")
    assert result.status == 1
    assert result.err == (
        "gradstep: what came is no training that can be followed: '\\u001b[2Jgarbage' is no JSON\n"
    )
    training.end()
