"""What panels say of a question that gave way to a command, and that they ask it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradstep.core.protocol import messages as m
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.model.explanations import PAUSE
from gradstep.gui.model.lint_findings import LintFindings
from gradstep.gui.model.variant_comparison import VariantComparison
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.problems.problems_panel import ProblemsPanel
from tests.support.held_questions import give_up, hold


def asked(bench: Any, kind: type[m.Request]) -> int:
    return sum(isinstance(each, kind) for each in bench.bridge.asked)


@pytest.fixture
def inspector(bench: Any, show: Callable[..., Any]) -> InspectorPanel:
    bench.open("nan_gradient")
    bench.space.trust()
    bench.space.select(["p"])
    panel: InspectorPanel = show(InspectorPanel(bench.space), 328, 900)
    return panel


def test_why_is_asked_anew_where_the_debugger_stands_then(
    bench: Any, inspector: InspectorPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, held = inspector.reasons.gradient.body, hold(bench, monkeypatch, m.Why)
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(held))
    assert body.text() == "Looking for it…"
    bench.run("step_back")
    give_up(held)
    assert not held, "there it is not NaN yet"
    bench.run("step")
    qtbot.waitUntil(lambda: bool(held))
    assert (body.text(), asked(bench, m.Why)) == ("Looking for it…", 2)
    monkeypatch.undo()
    give_up(held)
    qtbot.waitUntil(lambda: "makes the first infinity" in body.text())
    assert bench.messages == []


def test_why_is_asked_again_where_the_command_moved_nothing(
    bench: Any, inspector: InspectorPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, held = inspector.reasons.gradient.body, hold(bench, monkeypatch, m.Why)
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(held))
    bench.space.request(m.RunLine(line="print 1"))
    give_up(held)
    assert body.text() == "Looking for it…"
    qtbot.waitUntil(lambda: bool(held))
    assert (len(held), asked(bench, m.Why)) == (1, 2)
    monkeypatch.undo()
    give_up(held)
    qtbot.waitUntil(lambda: "makes the first infinity" in body.text())


def test_why_is_not_asked_again_of_a_node_that_is_not_shown_any_more(
    bench: Any, inspector: InspectorPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold(bench, monkeypatch, m.Why)
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(held))
    [of_p] = [each for each in bench.bridge.asked if isinstance(each, m.Why)]
    bench.space.select(["zero"])
    qtbot.waitUntil(lambda: inspector.is_current)
    give_up(held)
    qtbot.wait(2 * PAUSE)
    assert bench.bridge.asked.count(of_p) == 1
    bench.space.select(["p"])
    qtbot.waitUntil(lambda: bench.bridge.asked.count(of_p) == 2)
    monkeypatch.undo()
    give_up(held)
    qtbot.waitUntil(lambda: "makes the first infinity" in inspector.reasons.gradient.body.text())


def test_problems_that_somebody_reads_ask_again(
    bench: Any, show: Callable[..., Any], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("nan_gradient")
    bench.space.trust()
    show(ProblemsPanel(bench.space), 328, 600)
    held = hold(bench, monkeypatch, m.Why)
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(held))
    first = asked(bench, m.Why)
    give_up(held)
    assert not held
    qtbot.waitUntil(lambda: asked(bench, m.Why) == 2 * first)


def test_a_jacobian_of_where_one_has_gone_from_is_not_looked_for(
    bench: Any, inspector: InspectorPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command led to, there is no word of one that is being computed."""
    bench.run("continue_")
    bench.space.select(["logp"])
    qtbot.waitUntil(lambda: inspector.is_current)
    found, held = inspector.jacobian, hold(bench, monkeypatch, m.FindJacobian)
    found.link.clicked.emit()
    assert (len(held), found.text.text()) == (1, "computing…")
    bench.run("step_back")
    give_up(held)
    assert not held
    assert found.link.isVisibleTo(found)
    assert not found.text.isVisibleTo(found)
    found.link.clicked.emit()
    give_up(held)
    assert len(held) == 1, "nobody has gone anywhere"
    monkeypatch.undo()
    give_up(held)
    assert found.views


def test_lints_are_looked_for_again(
    bench: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("nan_gradient")
    bench.space.trust()
    held, lints = hold(bench, monkeypatch, m.Diagnose), LintFindings(bench.space)
    lints.want()
    qtbot.waitUntil(lambda: bool(held))
    give_up(held)
    assert len(held) == 1, "the same document and runs"
    bench.run("continue_")
    give_up(held)
    assert not held, "others"
    bench.run("restart")
    monkeypatch.undo()
    before = asked(bench, m.Diagnose)
    lints.want()
    qtbot.waitUntil(lambda: asked(bench, m.Diagnose) == before + 1)


def test_what_nobody_waits_for_any_more_is_not_asked_again(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many commands came meanwhile, one question is left."""
    bench.open("tutorial")
    variants, query = VariantComparison(bench.space), bench.space.queries
    held = hold(bench, monkeypatch, m.CompareVariants | m.FindMoments)
    for number in range(1, 4):
        bench.run("continue_")
        variants.require()
        query.ask("loss > 0")
        assert len(held) <= 4, "those of before, and the newest"
        give_up(held)
        assert len(held) == 2, "the newest"
        assert asked(bench, m.FindMoments) == 2 * number


def test_of_a_tensor_that_is_not_looked_at_nothing_is_asked_again() -> None:
    sent: list[tuple[Any, ...]] = []
    questions = Questions(lambda *given: sent.append(given), lambda error: None)
    questions.ask("lines", m.DescribeTensor(of=m.TensorSlice(ref="a:0")), lambda *_: None)
    _, _, answered, wanted = sent[0]
    assert wanted()
    questions.forget()
    assert not wanted()
    questions.ask("lines", m.DescribeTensor(of=m.TensorSlice(ref="b:0")), lambda *_: None)
    answered(m.GaveWay(), ())
    assert [each[0].of.ref for each in sent] == ["a:0", "b:0"]
