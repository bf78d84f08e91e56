"""Answers that come late: of a document that is not open any more, or that was edited meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.model import Edge
from gradstep.core.protocol import messages as m
from gradstep.gui import commands
from gradstep.gui.commands import expectation_commands

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


def test_branches_are_kept_of_the_document_as_it_is_by_then(bench: Any, late: Answers) -> None:
    """Not of nodes that are called otherwise by then."""
    space = bench.space
    commands.keep_branches(space)
    commands.rename(space, "d", "sum")
    space.debugger.flush()
    come(late)
    branches = space.document.branches
    assert branches is not None
    assert "'sum:0'" in repr(branches)
    assert "'d:0'" not in repr(branches)


def test_a_move_before_an_edit_shows_no_place_in_the_program_before_that(
    bench: Any, late: Answers
) -> None:
    """The first edit is not shown, as the second came behind it; so there is no program of the
    move between them."""
    space, stands = bench.space, list[bool]()
    commands.set_optimizers(space, [])
    space.debugger.flush()
    come(late)
    space.stopped.connect(lambda: stands.append(space.stop.step <= len(space.program.steps)))
    space.undo_stack.undo()
    space.control("continue_")
    commands.toggle_stop(space, Edge("a", 0))
    space.control("step_back")
    come(late)
    assert stands
    assert all(stands)


def test_nobody_stands_in_a_document_that_the_engine_refused(bench: Any, late: Answers) -> None:
    space = bench.space
    commands.use_device(space, "torch:none")
    space.control("step")
    come(late)
    assert (space.program, space.stop) == (None, None)
    assert space.failure is not None
    commands.use_device(space, "cpu")
    come(late)
    assert space.program is not None
    assert space.failure is None


def test_a_failure_is_over_once_something_else_is_done(bench: Any) -> None:
    bench.open("tutorial")
    bench.run("step_back")
    assert bench.space.failure is not None
    bench.run("step")
    assert bench.space.failure is None


def test_what_a_run_gave_before_an_edit_is_not_expected_after_it_and_that_is_said(
    bench: Any, late: Answers
) -> None:
    space, said = bench.space, list[str]()
    space.message.connect(lambda _, text: said.append(text))
    commands.expect_run(space)
    commands.rename(space, "c", "other")
    renamed = space.document.expectations
    come(late)
    assert space.document.expectations == renamed
    assert said == [expectation_commands.CHANGED_MEANWHILE]
    commands.expect_run(space)
    come(late)
    assert len(space.document.expectations) > len(renamed)
