"""What is in a branch that was not taken: an error where it was asked for, else it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradstep
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.io.export_document import write
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

SAID = "not computed: in a branch that was not taken"
FED = ("--feed", "x=3", "--feed", "p=true")


@pytest.fixture
def cond(tmp_path: Path) -> Path:
    """A GraphDef whose one branch is nothing's input, as real ones have them."""
    return written(tmp_path / "cond.pb")


def written(file: Path, **more: Any) -> Path:
    builder = GraphBuilder()
    x, p = builder.placeholder("x", shape=[]), builder.placeholder("p", "bool", [])
    untaken, taken = builder.op("Switch", x, p, name="switch")
    builder.one("Square", taken, name="squared")
    builder.one("Neg", untaken, name="negative")
    builder.op("NoOp", name="nothing")
    write(file, Document(builder.build(), **more))
    return file


@pytest.mark.parametrize("more", [(), ("--fast",), ("--runs", "2")])
def test_a_run_that_was_asked_for_nothing_gives_what_there_is(
    cli: Cli, cond: Path, more: tuple[str, ...]
) -> None:
    found = cli("run", cond, *FED, *more)
    assert (found.status, found.err) == (0, "")
    lines = [line.split(None, 1) for line in found.out.splitlines()]
    assert ["negative", SAID] in lines
    assert ["squared", "float32[] 9."] in lines
    assert ["nothing", "None"] in lines


def test_json_names_it(cli: Cli, cond: Path) -> None:
    (run,) = cli("run", cond, *FED, "--json").json["runs"]
    assert run["fetches"]["negative"] is None
    assert run["not_computed"] == ["negative"]
    (run,) = cli("run", cond, "--feed", "x=3", "--feed", "p=false", "--json").json["runs"]
    assert run["not_computed"] == ["squared"]
    assert run["fetches"]["negative"]["data"] == -3


@pytest.mark.parametrize("more", [(), ("--fast",)])
def test_asked_for_by_name_it_is_an_error(cli: Cli, cond: Path, more: tuple[str, ...]) -> None:
    found = cli("run", cond, *FED, "--fetch", "squared", "negative", *more)
    assert found.status == 1
    assert "Retval[1] does not have value (at negative)" in found.err
    assert "branch not taken because p is True" in found.err


def test_beside_threads_it_is_the_same(cli: Cli, tmp_path: Path) -> None:
    feeds = {"x:0": Constant(np.float32(3)), "p:0": Constant(np.array(True))}
    threads = (Thread("beside", targets=("nothing",)),)
    file = written(tmp_path / "cond.gradstep", feeds=feeds, threads=threads)
    found = cli("run", file, "--threads")
    assert found.status == 0
    assert ["negative", SAID] in [line.split(None, 1) for line in found.out.splitlines()]
    found = cli("run", file, "--threads", "--fetch", "negative")
    assert found.status == 1
    assert "Retval[0] does not have value" in found.err


def test_the_debugger_and_a_script_go_on(cli: Cli, cond: Path) -> None:
    found = cli("debug", cond, *FED, "--script", "continue; print negative")
    assert found.status == 0
    assert "negative  dead: branch not taken because p is True" in found.out
    session = gradstep.open(cond)
    feeds = {"x": 3, "p": True}
    values = session.run(feeds=feeds)
    assert (values["negative"], values["squared"]) == (None, 9)
    with pytest.raises(gradstep.GradstepError, match="does not have value"):
        session.run("negative", feeds)
