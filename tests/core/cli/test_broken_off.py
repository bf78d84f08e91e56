"""Ctrl+C says on standard error how far the command had come; the exit status is 130."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradstep.core.cli import train
from gradstep.core.errors import Interrupted
from gradstep.core.progress import progress_to
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Ctrl+C as soon as something tells that it is so far."""

    def at(text: str, done: int) -> None:
        def listen(tell: Any) -> Any:
            def told(said: str, number: int, total: int) -> None:
                tell(said, number, total)
                if said == text and number == done:
                    raise Interrupted

            return progress_to(told)

        monkeypatch.setattr("gradstep.core.cli.output.how_far.progress_to", listen)

    return at


@pytest.mark.parametrize(
    ("words", "text", "done", "said"),
    [
        (["run", "--runs", 50], "Making runs", 37, "making runs, after 37 of 50"),
        (["query", "value > 1e9", "--runs", 9], "Making runs", 4, "making runs, after 4 of 9"),
        (["check"], "Checking gradients", 0, "checking gradients"),
    ],
)
def test_how_far_it_had_come(
    cli: Cli,
    press: Callable[[str, int], None],
    words: list[object],
    text: str,
    done: int,
    said: str,
) -> None:
    press(text, done)
    verb, *rest = words
    result = cli(verb, TUTORIAL, *rest)
    assert (result.status, result.out) == (130, "")
    assert result.err == f"gradstep: stopped while {said}\n"


def test_on_a_terminal_what_was_shown_last_is_what_was_stopped(
    cli: Cli, press: Callable[[str, int], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where a line of progress is told as well."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    press("Looking for the smallest, 5 operations", 2)
    wrong = FOLDER / "override_add.gradstep"
    result = cli("check", wrong, "--trust", "--without", "all", "--reduce", tmp_path / "a.gradstep")
    assert result.status == 130
    said = "gradstep: stopped while looking for the smallest, 5 operations, after 2 of 200\n"
    assert result.err.endswith(said)


def test_a_training_says_in_json_that_it_was_interrupted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = train.Training.step

    def pressed(self: train.Training) -> Any:
        if self.done == 6:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self)

    monkeypatch.setattr(train.Training, "step", pressed)
    result = cli("train", TUTORIAL, "--steps", 50, "--json")
    assert result.status == 130
    assert (result.json["steps"], result.json["stopped"]) == (7, "interrupted")
    assert cli("train", TUTORIAL, "--steps", 5, "--json").json["stopped"] == ""
