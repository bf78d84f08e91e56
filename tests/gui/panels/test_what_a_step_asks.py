"""A step is one request and one reply: what the panels show comes with the stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradstep.core.graph.model import Edge
from gradstep.core.host import stop_view
from gradstep.core.protocol.messages import (
    BrokenNumbers,
    CheckExpectations,
    Control,
    Edit,
    FindBroken,
    Message,
    Notate,
    Read,
)
from gradstep.gui import commands
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.sessions_panel import SessionsPanel
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel

PAUSE = "gradstep.gui.model.debugger.SETTLE"  # in which the engine gets no other edit


@pytest.fixture
def asked(bench: Any, show: Callable[..., Any], qtbot: Any) -> Callable[..., list[Message]]:
    """What is asked while the debugger moves, with panels that all show something."""

    there: list[Any] = []  # else they go whenever somebody looks for garbage

    def move(*commands: str, panels: tuple[type, ...] = (TimelinePanel, InspectorPanel)) -> Any:
        there.extend(show(panel(bench.space), 600, 400) for panel in panels)
        bench.run("run_to@1:3")
        bench.space.select(["a"])
        qtbot.wait(30)
        del bench.bridge.asked[:]
        bench.run(*commands)
        qtbot.wait(30)
        return [*bench.bridge.asked]

    return move


def shown(bench: Any) -> dict[str, list[float] | None]:
    """The values of all tensors of the program, as the window has them."""
    refs = [ref for step in bench.space.program.steps for ref in step.outputs]
    values = {ref: bench.space.value(ref) for ref in refs}
    return {ref: None if v is None else v.head.tolist() for ref, v in values.items()}


@pytest.mark.slow
def test_a_step_is_one_request(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop_view, "BLINK", 60.0)  # however busy the machine is
    bench.open("tutorial")
    panels = TimelinePanel, InspectorPanel, SessionsPanel
    found = asked("step", "step_back", "step", panels=panels)
    assert [type(each) for each in found] == [Control] * 3
    assert [session.step for session in bench.space.sessions.found] == [bench.space.stop.step]
    assert bench.space.soundness.found == BrokenNumbers(run=1, complete=True)
    came = {ref: value for ref, value in shown(bench).items() if value is not None}
    assert {"a:0", "d:0", "c:0"} <= {*came}
    bench.space.debugger._values.clear()
    bench.space.debugger._values.refresh([*came])
    read = shown(bench)
    assert came == {ref: read[ref] for ref in came}, "as they are when each is read"


@pytest.mark.slow
def test_sessions_are_told_of_only_where_they_are_shown(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop_view, "BLINK", 60.0)
    bench.open("tutorial")
    [step] = asked("step")
    assert isinstance(step, Control)
    assert step.look is not None
    assert not step.look.sessions
    [step] = asked("step", panels=(SessionsPanel,))
    assert isinstance(step, Control)
    assert step.look is not None
    assert step.look.sessions


def test_what_takes_too_long_is_read_by_itself(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("tutorial")
    monkeypatch.setattr(stop_view, "BLINK", 0.0)
    found = asked("step")
    assert [type(each) for each in found] == [Control, Read]
    assert bench.space.value("d:0").state == "known"


@pytest.mark.slow
def test_a_run_that_was_not_looked_through_is_asked_about(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradstep.gui.model.debugger.SURVEY", 0.0)
    bench.open("nan_gradient")
    found = asked("continue_")
    assert [type(each) for each in found[:1]] == [Control]
    assert bench.space.soundness.found.complete
    assert bench.space.soundness.first is not None
    assert FindBroken in [type(each) for each in found]


@pytest.mark.slow
def test_an_edit_is_answered_with_what_the_panels_show(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    """Words may be others now, and expectations are held against runs of their own."""
    monkeypatch.setattr(stop_view, "BLINK", 60.0)
    bench.open("tutorial")
    asked("step", panels=(TimelinePanel, InspectorPanel, SessionsPanel))
    del bench.bridge.asked[:]
    commands.toggle_stop(bench.space, Edge("a", 0))
    bench.space.debugger.flush()
    qtbot.wait(30)
    kinds = [type(each) for each in bench.bridge.asked]
    assert kinds[0] is Edit
    assert {*kinds[1:]} <= {Notate, CheckExpectations}
    assert bench.space.value("d:0").state == "known"
    assert bench.space.gradient("d:0").state == "none"
    assert bench.space.sessions.found[0].step == bench.space.stop.step


def test_of_what_an_edit_made_nobody_is_asked_before_the_engine_has_it(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    """And then its value comes with the answer."""
    monkeypatch.setattr(stop_view, "BLINK", 60.0)
    monkeypatch.setattr(PAUSE, 60_000)
    bench.open("tutorial")
    asked("continue_")
    del bench.bridge.asked[:]
    commands.rename(bench.space, "a", "sum")
    assert bench.space.value("sum:0") is None
    qtbot.wait(30)
    assert bench.bridge.asked == []
    bench.space.debugger.flush()
    [edit, *others] = bench.bridge.asked
    assert isinstance(edit, Edit)
    assert edit.look is not None
    assert "sum:0" in edit.look.refs
    assert bench.space.value("sum:0").state == "known"
    assert not any("sum:0" in each.refs for each in others if isinstance(each, Read))


def test_what_was_looked_at_during_an_edit_that_is_none_is_asked_for(
    bench: Any, asked: Callable[..., list[Message]], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    monkeypatch.setattr(PAUSE, 60_000)
    bench.open("tutorial")
    asked("continue_")
    commands.rename(bench.space, "a", "sum")
    bench.space.value("e:0")
    bench.space.debugger._values.clear()
    bench.space.value("d:0")
    qtbot.wait(30)
    bench.space.undo_stack.undo()
    del bench.bridge.asked[:]
    bench.space.debugger.flush()
    qtbot.waitUntil(lambda: bench.space.value("d:0") is not None)
    assert Edit not in map(type, bench.bridge.asked)


def test_a_node_that_is_selected_is_shown_once_with_what_is_asked_for(
    bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    bench.open("tutorial")
    panel = show(InspectorPanel(bench.space), 600, 400)
    bench.run("continue_")
    bench.space.select(["a"])
    qtbot.waitUntil(lambda: panel.is_current)
    bench.space.debugger._values.clear()
    bench.space.debugger.notations.clear()
    shown: list[Any] = []
    monkeypatch.setattr(panel.value, "show_node", lambda op: shown.append(is_known(op)))

    def is_known(op: Any) -> bool:
        text = bench.space.step_text(op.name)
        return text != "" and bench.space.value(str(op.output())) is not None

    bench.space.select(["d"])
    qtbot.waitUntil(lambda: bool(shown))
    qtbot.wait(30)
    assert shown == [True]
    bench.space.debugger._values.clear()
    monkeypatch.setattr(bench.space.debugger._values, "_request", lambda *_: None)
    bench.space.select(["e"])
    qtbot.waitUntil(lambda: shown == [True, False])  # nor does it wait for ever
