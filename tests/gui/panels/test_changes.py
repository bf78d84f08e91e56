"""An update is seen in timeline, inspector and tensor panel, and what is new is marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.tensor.tensor_panel import TensorPanel
from gradstep.gui.panels.timeline.timeline_model import TEXT, VALUE, TimelineModel
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel
from gradstep.gui.panels.widgets.small_labels import Wrapped


def after_update_of(bench: Any, name: str) -> None:
    """Right after the step that updates a variable of the tutorial."""
    bench.open("tutorial")
    for _ in bench.space.program.steps:
        bench.run("step")
        value = bench.space.value(name)
        if value is not None and value.update is not None:
            return
    raise AssertionError(f"no step updates {name}")


def test_the_timeline_says_what_was_and_by_how_much(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    after_update_of(bench, "c")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    model: TimelineModel = panel.model
    row = next(i for i, r in enumerate(model.rows) if (r.node, r.phase) == ("c", "update"))
    told = "was [0.06000 -0.04000], Δ [-0.00015 +0.00024]"
    said = f"c ← ApplyAdam(c, 0.001, ∂L/∂c)   {told}"
    qtbot.waitUntil(lambda: model.cell(row, TEXT).text == said)
    assert model.cell(row, VALUE).text == "[0.05985 -0.03976]"
    strong = [i for i in range(model.count()) if model.cell(i, VALUE).strong]
    assert strong == [row]
    bench.run("step_back")
    assert "Δ" not in model.cell(row, TEXT).text


def test_what_the_last_step_gave_is_strong_in_the_timeline(
    bench: Any, show: Callable[..., Any]
) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    model: TimelineModel = panel.model
    for _ in range(model.count()):
        bench.run("step")
        strong = [i for i in range(model.count()) if model.cell(i, VALUE).strong]
        assert strong == [model.current - 1]


def test_the_inspector_shows_the_change(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    after_update_of(bench, "c")
    bench.space.select(["c"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    qtbot.waitUntil(lambda: panel.is_current)
    note = panel.findChild(Wrapped, "inspector.change_flow.note")
    assert note.isVisible()
    assert note.text().replace("\u200b", "").splitlines() == [
        "[0.06000 -0.04000] → [0.05985 -0.03976]",
        "‖Δ‖ 0.000284, 0.395 % of the norm",
    ]
    assert panel.change.header.remark.text() == "by the last step"
    bench.space.select(["k"])
    qtbot.waitUntil(lambda: panel.is_current)
    assert not panel.change.isVisible()


def test_the_tensor_panel_says_it_too(bench: Any, show: Callable[..., Any]) -> None:
    after_update_of(bench, "c")
    bench.space.select(["c"])
    panel = show(TensorPanel(bench.space), 800, 240)
    assert panel.facts.text().endswith("changed in this run: ‖Δ‖ 0.000284, 0.395 % of the norm")


def test_another_output_has_its_own_number(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    bench.run("continue_")
    bench.space.select(["a"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    note = panel.findChild(Wrapped, "inspector.gradient_flow.note")
    qtbot.waitUntil(lambda: "[0.485 -0.485]" in note.text())
    assert note.text().endswith("⊙ loss:1 = expand_dims(1, axes(-1)) ⊙ [0.485 -0.485]")


def test_an_op_without_a_formula_shows_none(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    bench.run("continue_")
    panel = show(InspectorPanel(bench.space), 328, 900)
    note = panel.findChild(Wrapped, "inspector.value_flow.note")
    for name, expected in (("c", ""), ("data", ""), ("d", "d = data + c")):
        bench.space.select([name])
        qtbot.waitUntil(lambda: panel.is_current)
        if expected:
            qtbot.waitUntil(lambda: bool(note.text()))
        assert note.text().startswith(expected)
        assert bool(note.text()) == bool(expected)
