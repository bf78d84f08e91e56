"""The console in the window: a line changes nothing itself, and says what is to be done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.cli.console.console import Console
from gradstep.core.cli.console.line_completion import complete
from gradstep.core.cli.console.relayed_acts import answer_line
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import FIRST, Sessions
from gradstep.core.document.breakpoint_specs import breakpoint_of, spec_of
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.host.session_restore import begin
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.core.protocol import messages as m
from tests.examples.build import FOLDER
from tests.support import looping


@pytest.fixture
def sessions() -> Sessions:
    program = derive(read(FOLDER / "tutorial.gradstep"), {})
    return Sessions({FIRST: begin(program, NumpyBackend())})


def said(sessions: Sessions, line: str, **known: Any) -> m.LineDone:
    return answer_line(sessions, m.RunLine(line=line, **known))[0]


def test_what_only_looks_is_answered(sessions: Sessions) -> None:
    assert "[ 0.06, -0.04]" in said(sessions, "print c").text
    spec = spec_of(Breakpoint("loss", log="here"))
    assert "writes: here" in said(sessions, "breakpoints", breakpoints=[spec]).text
    assert "0.0721" in said(sessions, "watch", watches=['norm(x["c"])']).text
    assert said(sessions, "quit").quit


def test_what_changes_something_is_left_to_the_window(sessions: Sessions) -> None:
    moved = said(sessions, "goto 0:4")
    assert moved.control == m.Control(command="run_to", target="0:4")
    assert moved.then == "where"
    broken = said(sessions, "break loss if nan")
    assert broken.breakpoints is not None
    [point] = map(breakpoint_of, broken.breakpoints)
    assert point == Breakpoint("loss", condition="isnan(value)")
    assert said(sessions, "watch c").watches == ['x["c:0"]']
    assert said(sessions, "unwatch", watches=["1"]).watches == []
    managed = said(sessions, "new b").manage
    assert managed == m.ManageSessions(command="new", name="b")
    done, buffers = answer_line(sessions, m.RunLine(line="set c [1, 2]"))
    assert done.assign == m.Assign(name="c", dtype="float32", shape=[2])
    assert np.frombuffer(buffers[0], np.float32).tolist() == [1, 2]
    done, buffers = answer_line(sessions, m.RunLine(line="inject c[0] = 3"))
    assert done.inject == m.Inject(name="c", at="[0]", dtype="float32", shape=[])
    assert np.frombuffer(buffers[0], np.float32).tolist() == [3]
    asked = said(sessions, "rename main to mine")
    assert asked.branch == m.ManageBranches(command="rename", name="main", to="mine")
    forked = m.ManageBranches(command="edit", kind="stop", edited=["a<0"])
    assert said(sessions, "fork stop a<0").branch == forked
    said(sessions, "why grad c")
    held = said(sessions, "compare main 0:2").compare
    assert held == m.CompareMoments(left=m.Moment(branch="main"), right=m.Moment(run=0, step=2))
    threads = sessions.session
    assert (threads.stop.step, sessions.current) == (0, FIRST)
    assert threads.session.frame().value("c").tolist() != [1, 2]  # type: ignore[union-attr]


def test_an_iteration_is_chosen_by_the_window() -> None:
    program = looping.session(n=3).program
    there = Sessions({FIRST: Scheduler(program)})
    done = said(there, "iteration 2")
    assert done.control == m.Control(command="iteration", target="while/While 2")
    assert done.then == "iteration"
    assert not there.session.session.chosen


@pytest.mark.parametrize(
    "line", ["step_back", "break nosuch", "log loss: {x[}", "watch x[", "new b f"]
)
def test_what_cannot_be_is_refused_before(sessions: Sessions, line: str) -> None:
    with pytest.raises(GradstepError):
        answer_line(sessions, m.RunLine(line=line))


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("ste", ["step", "step_into", "step_out", "step_back"]),
        ("print lab", ["print labels"]),
        ('query norm(grad["los', ['query norm(grad["loss']),
        ("break c if na", ["break c if nan"]),
        ("query --ev", ["query --every"]),
        ("print ", []),
        ("nosuch", []),
    ],
)
def test_lines_are_completed(sessions: Sessions, line: str, becomes: list[str]) -> None:
    console = Console(sessions, lambda file: sessions.session.program)
    assert complete(console, line) == becomes
    asked, _ = answer_line(sessions, m.RunLine(line=line, complete=True))
    assert asked.lines == becomes
