"""A document on standard input, named `-`."""

from __future__ import annotations

import io
import sys

import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Input(TUTORIAL.read_bytes()))


@pytest.mark.usefixtures("piped")
@pytest.mark.parametrize(
    "words",
    [
        ["run", "{}"],
        ["grad", "{}"],
        ["check", "{}"],
        ["diff", "{}", str(TUTORIAL)],
        ["diff", str(TUTORIAL), "{}"],
        ["convert", "{}", "-"],
        ["debug", "{}", "--script", "step; print d"],
    ],
)
def test_it_is_the_document_that_stands_there(cli: Cli, words: list[str]) -> None:
    piped = cli(*(word.replace("{}", "-") for word in words))
    assert piped.status == 0, piped.err
    assert piped.out == cli(*(word.replace("{}", str(TUTORIAL)) for word in words)).out


@pytest.mark.usefixtures("piped")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["debug", "-"], "takes its commands from standard input"),
        (["diff", "-", "-"], "holds one document"),
        (["expect", "-", "--value", "loss"], "without --out"),
        (["run", "-", "--sandbox"], "lets no file be made"),
        (["sweep", "-", "--set", "learning_rate=1,2", "--end-with-input"], "waits for the end"),
    ],
)
def test_where_it_is_read_for_something_else(cli: Cli, words: list[str], said: str) -> None:
    result = cli(*words)
    assert result.status == 2
    assert said in result.err


@pytest.mark.usefixtures("piped")
def test_it_has_the_memory_budget_of_any_file(cli: Cli) -> None:
    result = cli("run", "-", "--memory", "100")
    assert result.status == 1
    assert "memory" in result.err
