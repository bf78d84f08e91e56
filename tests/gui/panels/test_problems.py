"""The problems panel: drawing, deriving and running, each thing once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from core.autodiff.request import Override
from core.graph.dtypes import Shape
from core.graph.problems import Problem
from core.host.messages import ErrorInfo
from gui import commands
from gui.panels.problem_rows import problem_rows
from gui.panels.problems import ProblemsPanel


def test_the_same_problem_is_said_once() -> None:
    error = ErrorInfo(type="ValueError", message="wrong", node="a", hint="fix it")
    rows = problem_rows(
        [Problem("a", "shape", "wrong"), Problem("b", "shape", "wrong")], None, error
    )
    assert [(row.node, row.fix) for row in rows] == [("a", "fix it"), ("b", "")]


def test_a_failed_step_is_listed_and_found(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("gather")
    panel = show(ProblemsPanel(bench.space))
    assert panel.empty_text.startswith("No problems")
    bench.run("continue_")
    (row,) = panel.model.rows
    assert (row.node, row.text) == ("b", "indices[2] = 6 is not in [0, 5)")
    place = panel.list.visualRect(panel.model.index(0)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == ("b",)
    assert bench.views == [("reveal", "b")]


def test_a_shape_error_shows_while_drawing(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    panel = show(ProblemsPanel(bench.space))
    commands.set_attr(bench.space, "c", "shape", Shape.of(3))
    assert [row.node for row in panel.model.rows] == ["d", "e"]
    assert "[2] vs. [3]" in panel.model.rows[0].text
    bench.space.undo_stack.undo()
    assert panel.model.rows == []


def test_an_override_that_matches_nothing_is_a_warning_with_what_was_meant(
    bench: Any, show: Callable[..., Any]
) -> None:
    bench.open("tutorial")
    panel = show(ProblemsPanel(bench.space))
    commands.set_override(bench.space, Override("Identity", "Addv2"))
    bench.space.debugger.flush()
    (row,) = panel.model.rows
    assert row.text == "this override matches nothing: no op of type Addv2 here"
    assert (row.fix, row.severity) == ("did you mean AddV2 (2 ops)?", "warning")


def test_long_texts_wrap(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("gather")
    bench.run("continue_")
    panel = show(ProblemsPanel(bench.space))
    wide = panel.list.visualRect(panel.model.index(0)).height()
    panel.resize(180, 400)
    assert panel.list.visualRect(panel.model.index(0)).height() > wide


def test_a_wrong_gradient_is_listed_once_it_was_checked(
    bench: Any, show: Callable[..., Any]
) -> None:
    bench.open("override_add")
    bench.space.trust()
    panel = show(ProblemsPanel(bench.space))
    commands.check_gradients(bench.space)
    (row,) = panel.model.rows
    assert (row.node, row.severity) == ("e", "warning")
    assert row.text.startswith("CustomAdd is not its gradient")
    commands.use_native_gradient(bench.space, "e")
    bench.space.debugger.flush()
    assert panel.model.rows == []
