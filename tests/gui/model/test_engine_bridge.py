"""What is asked of an engine is answered once, whatever becomes of the process that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradstep.core.io.open_document import read
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Control, Devices, Failed, Message, Read
from gradstep.gui import commands
from gradstep.gui.model.engine_bridge import EngineBridge
from gradstep.gui.model.workspace import Workspace

Given = list[tuple[int, Message]]
LOADED = 20_000  # milliseconds that a loaded machine may take


@pytest.fixture
def training(workspace: Workspace, examples: Path, qtbot: Any) -> Workspace:
    """A workspace whose engine trains, and will for long."""
    path = examples / "softmax_digits.gradstep"
    workspace.open_document(read(path), path)
    qtbot.waitUntil(lambda: workspace.stop is not None and workspace.is_idle, timeout=LOADED)
    workspace.training.steps, workspace.training.by_epochs = 2_000_000, False
    workspace.training.train()
    qtbot.waitUntil(lambda: workspace.training.made > 10, timeout=LOADED)
    return workspace


def ask_several(bridge: EngineBridge, answers: Given) -> int:
    """Requests that wait for the training to end; how many."""
    asked: Sequence[Message] = (Control(command="step"), Read(refs=["loss:0"], limit=1), Devices())
    for number, message in enumerate(asked):

        def then(reply: Message, _: tuple[Buffer, ...], number: int = number) -> None:
            answers.append((number, reply))

        bridge.send(message, (), then)
    return len(asked)


def test_what_an_engine_is_asked_that_is_restarted_fails_once(
    training: Workspace, qtbot: Any
) -> None:
    answers: Given = []
    count = ask_several(training.bridge, answers)
    training.debugger.restart()
    qtbot.waitUntil(lambda: len(answers) == count and training.is_idle, timeout=LOADED)
    assert sorted(number for number, _ in answers) == [*range(count)]
    for _, reply in answers:
        assert isinstance(reply, Failed)
        assert reply.error.message == "the engine was restarted before it answered"
    assert training.failure is None, "which is no failure of the document's"
    assert training.engine_state == "ready"


def test_one_trains_again_after_a_restart(training: Workspace, qtbot: Any) -> None:
    training.debugger.restart()
    qtbot.waitUntil(lambda: not training.training.busy and training.is_idle, timeout=LOADED)
    training.training.steps = 5
    training.training.train()
    qtbot.waitUntil(lambda: not training.training.busy, timeout=LOADED)
    assert (training.training.made, training.training.failure) == (5, None)


def test_the_console_answers_again_after_a_restart(training: Workspace, qtbot: Any) -> None:
    said: list[str] = []
    training.console.said.connect(lambda text, tone: said.append(text))
    training.console.run("print loss")
    assert training.console.is_busy
    training.debugger.restart()
    qtbot.waitUntil(lambda: not training.console.is_busy and training.is_idle, timeout=LOADED)
    assert any("restarted before it answered" in text for text in said)
    training.console.run("where")
    qtbot.waitUntil(lambda: not training.console.is_busy, timeout=LOADED)
    assert "run " in said[-1]


def test_breakpoints_that_were_on_their_way_are_those_of_the_next_engine(
    training: Workspace, qtbot: Any
) -> None:
    commands.toggle_breakpoint(training, "loss")
    training.debugger.flush()
    training.debugger.restart()
    qtbot.waitUntil(lambda: not training.training.busy and training.is_idle, timeout=LOADED)
    training.control("continue_")
    qtbot.waitUntil(lambda: training.is_idle, timeout=LOADED)
    assert training.stop is not None
    assert training.stop.reason == "breakpoint"


def test_an_engine_that_cannot_be_started_answers_too(qapp: object, qtbot: Any) -> None:
    bridge, answers = EngineBridge(["/nowhere/at/all"]), []
    bridge.send(Devices(), (), lambda reply, _: answers.append(reply))
    qtbot.waitUntil(lambda: bool(answers), timeout=LOADED)
    assert isinstance(answers[0], Failed)
    assert (answers[0].error.type, bridge.state) == ("EngineDied", "dead")
    bridge.close()
