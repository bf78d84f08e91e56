"""GRADSTEP_LOG: levels and loggers, what the lines hold, and what comes from an engine."""

from __future__ import annotations

import io
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.core.document.document import Document
from gradstep.core.engine.plan import compile_plan
from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.process import logging_setup
from gradstep.core.host.process.logging_setup import LOGGERS, VARIABLE, start_logging
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from tests.core.cli.conftest import Cli, cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} \w+\[\d+\] (DEBUG|INFO) gradstep\.\w+: \S.*")

__all__ = ["cli"]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """The loggers are the process's: what a test sets is taken back."""
    root = logging.getLogger()
    handlers = [*root.handlers]
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    yield
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def test_every_move_and_plan_has_a_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "debug")
    result = cli("debug", TUTORIAL, "--script", "step; continue; step_back; continue; continue")
    lines = result.err.splitlines()
    assert all(map(LINE.fullmatch, lines)), lines
    said = [line.partition("gradstep.debug: ")[2] for line in lines if "gradstep.debug" in line]
    assert [text.partition(";")[0] for text in said] == [
        "step: from 0:0 to 0:1, step",
        "continue_: from 0:1 to 0:35, end",
        "step_back: from 0:35 to 0:30, step",
        "continue_: from 0:30 to 0:35, end",
        "continue_: from 0:35 to 1:35, end",
    ]
    executed = [re.search(r"(\d+) steps executed", text) for text in said]
    assert [int(found.group(1)) for found in executed if found] == [1, 34, 0, 0, 35]
    assert "compiled a plan of 35 steps and 39 values" in result.err
    assert "differentiated loss with respect to c, k: 15 operations made" in result.err


def test_levels_by_logger(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "warning, gradstep.engine=DEBUG")
    err = cli("train", TUTORIAL, "--steps", 1).err
    assert "pass 'dead code': from 31 steps to 28" in err
    assert {line.split(" gradstep.")[1].split(":")[0] for line in err.splitlines()} == {"engine"}


@pytest.mark.parametrize(
    ("wish", "said"),
    [("dbug", "there is no level 'dbug'"), ("gradstep.engin=info", "no logger 'gradstep.engin'")],
)
def test_a_wish_that_cannot_be_met(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, wish: str, said: str
) -> None:
    monkeypatch.setenv(VARIABLE, wish)
    result = cli("run", TUTORIAL)
    assert result.status == 2
    assert said in result.err
    assert len(result.err.splitlines()) == 2
    with pytest.raises(GradstepError, match="there is no"):
        start_logging("engine")


def test_nothing_is_said_or_reckoned_unasked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)

    def refuse(*args: object) -> None:
        raise AssertionError("nobody reads it")

    monkeypatch.setattr(compile_plan, "_log_plan", refuse)
    assert not start_logging("run")
    assert cli("run", TUTORIAL, "--fetch", "loss").err == ""


def test_names_command_no_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "debug")
    record = logging.LogRecord(
        "gradstep.engine", 10, "", 0, "at %s", ("\x1b[31mred\r\nINFO forged\u202e",), None
    )
    line = logging_setup.LineFormatter("run").format(record)
    assert "\n" not in line
    assert line.endswith("at \\u001b[31mred\\r\\nINFO forged\\u202e")


@pytest.mark.slow
def test_what_the_engine_says_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "debug")
    start_logging("window")
    heard = io.StringIO()
    monkeypatch.setattr("sys.stderr", heard)
    builder = GraphBuilder()
    builder.one("Tanh", builder.constant(1.0, name="a"), name="b")
    data = gradstep_file.to_bytes(Document(graph=builder.build()))
    client = EngineClient()
    client.confined = True
    client.call(m.Open(), [data], 60)
    client.call(m.Control(command="step"), timeout=60)
    until = time.monotonic() + 60  # what it says of an answer comes behind that
    while "Control step, " not in heard.getvalue() and time.monotonic() < until:
        time.sleep(0.01)
    client.close()
    engine = [line for line in heard.getvalue().splitlines() if " engine[" in line]
    assert any("gradstep.engine: compiled a plan of" in line for line in engine)
    assert any("gradstep.host: #2 Control step, " in line for line in engine)
    ours = capsys.readouterr().err
    assert re.search(r"window\[\d+\] DEBUG gradstep.host: #1 Opened came after [\d.]+ ms", ours)
    assert re.search(r"INFO gradstep.host: engine \d+: the engine process ended: ", ours)
