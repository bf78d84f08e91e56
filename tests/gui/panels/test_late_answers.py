"""Answers that come late: of a document that is not open any more, or that was edited meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.model import Edge
from gradstep.core.protocol import messages as m
from gradstep.gui import commands

Answers = list[Callable[[], None]]


@pytest.fixture
def late(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """What the engine answers from now on, in its order: it works, and each comes when it is
    called."""
    answers = Answers()

    def send(message: m.Message, buffers: Sequence[Any] = (), then: Any = lambda *_: None) -> None:
        bench.bridge.asked.append(message)
        reply = bench.bridge.service.handle(message, [bytes(b) for b in buffers])
        answers.append(lambda: then(*reply))

    bench.open("tutorial")
    bench.run("step", "step", "continue_")
    bench.space.sessions.inject("d:0", np.array([2.0, 3.0], np.float32))
    monkeypatch.setattr(bench.bridge, "send", send)
    return answers


def come(answers: Answers) -> None:
    """All of them, and what is asked upon that."""
    while answers:
        answers.pop(0)()


ASKED: dict[str, Callable[[Any], object]] = {
    "step": lambda space: space.control("step_back"),
    "thread": lambda space: commands.switch_thread(space, "main"),
    "train": commands.train,
    "inject": lambda space: space.sessions.inject("d:0", np.array([4.0, 5.0], np.float32)),
    "branch": lambda space: commands.switch_branch(space, "main"),
    "keep branches": commands.keep_branches,
    "session": commands.new_session,
    "sessions": lambda space: space.sessions.refresh(),
    "console: breakpoint": lambda space: space.console.run("break e"),
    "console: watch": lambda space: space.console.run("watch e"),
    "console: session": lambda space: space.console.run("session new other"),
    "check": lambda space: space.debugger.check(),
    "compare": lambda space: space.debugger.compare(["emulate:tf-gpu"]),
    "select": lambda space: (space.select(["c"]), commands.select_passes(space)),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_nothing_said_of_a_document_is_shown_of_another(
    bench: Any, late: Answers, ask: Callable[[Any], object]
) -> None:
    space = bench.space
    ask(space)
    other = bench.open("stop_gradient")
    while len(late) > 1:  # all but of the document that is opened
        late.pop(0)()
        assert (space.program, space.stop) == (None, None)
    come(late)
    assert space.document is other
    assert (space.stop.run, space.stop.step, len(space.stop.branches)) == (0, 0, 0)
    assert space.sessions.names == ["main"]
    assert (space.table, space.comparisons, space.failure) == (None, [], None)
    assert (space.training.busy, space.training.made, space.console.is_busy) == (False, 0, False)
