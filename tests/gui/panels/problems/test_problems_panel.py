"""The problems panel: drawing, deriving and running, each thing once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import ErrorInfo, ProblemInfo, Why
from gradstep.gui import commands
from gradstep.gui.model.explanations import PAUSE
from gradstep.gui.model.problem_rows import current_problems, problem_rows
from gradstep.gui.panels.problems.problems_panel import ProblemsPanel
from tests.support import tensorflow_graphs
from tests.support.whys import graph_of


def test_the_same_problem_is_said_once() -> None:
    error = ErrorInfo(type="ValueError", message="wrong", node="a", hint="fix it")
    rows = problem_rows(
        [Problem("a", "shape", "wrong"), Problem("b", "shape", "wrong")], None, error
    )
    assert [(row.node, row.fix) for row in rows] == [("a", "fix it"), ("b", "")]


def test_an_open_input_is_one_entry_whatever_waits_for_it(bench: Any) -> None:
    """And what waits for something that nothing else tells of is one."""
    bench.open("tutorial")
    space = bench.space
    for wire in (Edge("a", 1), Edge("d", 0)):
        commands.disconnect(space, wire)
        space.debugger.flush()
        assert space.program is not None
        assert "waiting" in {p.type for p in space.program.problems}
        rows = current_problems(space)
        assert [(row.node, row.severity) for row in rows if row.node == wire.op] == [
            (wire.op, "info")
        ]
    alone = ProblemInfo(type="waiting", message="waits", node="e", severity="info")
    (row,) = problem_rows([], structs.replace(space.program, problems=[alone]))
    assert row.text == "waits"


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
    bench.space.debugger._answered = 1.0  # seconds: of a quick engine the answer is waited for
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


def test_a_race_is_a_warning_at_what_reads(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """It names both ends, and is gone once one waits for the other."""
    document = from_pb(tensorflow_graphs.graph_bytes("program_estimator"))
    bench.space.open_document(document)
    bench.space.debugger.flush()
    panel = show(ProblemsPanel(bench.space))
    (row,) = [row for row in panel.model.rows if "no path orders" in row.text]
    assert (row.node, row.severity) == ("ExponentialDecay/Cast_2", "warning")
    assert "'train', which writes it" in row.text
    place = panel.list.visualRect(panel.model.index(panel.model.rows.index(row))).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == ("ExponentialDecay/Cast_2",)
    commands.add_control(bench.space, "train", "ExponentialDecay/Cast_2")
    bench.space.debugger.flush()
    assert not [row for row in panel.model.rows if "no path orders" in row.text]


def click_link(panel: ProblemsPanel, row: int, qtbot: Any) -> None:
    place = panel.links(panel.model.index(row))[0].place.center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_the_first_nan_is_listed_once_and_gone_to(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("nan_gradient")
    panel = show(ProblemsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    (row,) = panel.model.rows
    assert (row.node, row.severity) == ("logp", "warning")
    assert row.text == (
        "Infinity in logp, first at step 3, NaN from the gradient of logp on; "
        "2 nodes hold NaN or infinity"
    )
    click_link(panel, 0, qtbot)
    assert bench.bridge.controls()[-1].target == "0:3"
    assert bench.space.stop.step == 3
    assert not np.isfinite(bench.space.value("logp").head).all()
    assert (bench.space.selection, bench.views[-1]) == (("logp",), ("reveal", "logp"))
    bench.run("continue_")
    place = panel.list.visualRect(panel.model.index(0)).topLeft() + QPoint(60, 14)
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.stop.reason == "end"  # the row goes to the node, and not back


def test_from_before_it_was_made_one_goes_forward_to_it(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("nan_gradient")
    panel = show(ProblemsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    bench.run("reverse_continue")
    assert bench.space.stop.step == 0
    qtbot.wait(20)
    assert panel.model.rows[0].text.startswith("Infinity in logp, first at step 3")
    click_link(panel, 0, qtbot)
    assert (bench.space.stop.step, bench.space.selection) == (3, ("logp",))


def test_a_nan_of_an_iteration_is_gone_to_in_it(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    def loop(b: GraphBuilder) -> None:
        body = lambda i, a: (i + 1, a + tf.sqrt(3.5 - tf.cast(i, "float32"), name="root"))  # noqa: E731
        x = b.placeholder("x", shape=[])
        tf.identity(tf.while_loop(lambda i, a: i < 6, body, (0, x))[1], name="y")

    feeds = {"x:0": Constant(np.float32(1))}
    bench.space.open_document(Document(graph=graph_of(loop), feeds=feeds))
    bench.space.debugger.flush()
    panel = show(ProblemsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    qtbot.waitUntil(lambda: "in iteration 5" in panel.model.reason(panel.model.rows[0]))
    click_link(panel, 0, qtbot)
    (inside,) = bench.space.stop.inside
    assert (inside.loop, inside.iteration) == ("while/While", 4)
    assert bench.space.selection == ("while/root",)


def test_why_the_first_nan_came_is_said_beside_it(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("nan_gradient")
    panel = show(ProblemsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    height = panel.list.visualRect(panel.model.index(0)).height()
    (row,) = panel.model.rows
    qtbot.waitUntil(lambda: "from p = 0: the logarithm of 0" in panel.model.reason(row))
    qtbot.waitUntil(lambda: panel.list.visualRect(panel.model.index(0)).height() > height)
    assert "from p = 0" in panel.model.data(panel.model.index(0))
    bench.run("step_back")
    assert not panel.model.reason(row), "it was of another stop"


@pytest.mark.slow
def test_nothing_is_asked_while_nobody_reads_it(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("nan_gradient")
    panel = show(ProblemsPanel(bench.space))
    panel.hide()
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    qtbot.wait(2 * PAUSE)
    asked = lambda: [m for m in bench.bridge.asked if isinstance(m, Why)]  # noqa: E731
    assert not asked()
    panel.show()
    qtbot.waitUntil(lambda: len(asked()) == 1)


def test_gradients_that_are_zero_are_remarked_on_and_gone_to(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    build = GraphBuilder()
    dead = build.one("Relu", build.one("Neg", build.placeholder("x", shape=[2])), name="dead")
    build.one("Mul", dead, build.placeholder("y", shape=[2]), name="z")
    request = GradientRequest.to("z", "x", "y")
    values = {"x:0": Constant(np.float32([1, 2])), "y:0": Constant(np.float32([1, 2]))}
    bench.space.open_document(Document(graph=build.build(), request=request, feeds=values))
    bench.space.debugger.flush()
    panel = show(ProblemsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    (row,) = panel.model.rows
    assert (row.node, row.severity) == ("x", "info")
    assert row.text == "dL/dx is 0 in every element, and so is every element of 1 other gradient"
    qtbot.waitUntil(lambda: "it is inactive (a dead unit)" in panel.model.reason(row))
    click_link(panel, 0, qtbot)
    assert bench.space.selection == ("dead",)
    assert bench.space.stop.phase == "backward"
    (left,) = panel.model.rows
    assert left.text == "dL/dy is 0 in every element", "the other one is not there yet"


def test_it_is_found_as_soon_as_a_step_makes_it(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("nan_gradient")
    panel = show(ProblemsPanel(bench.space))
    bench.run("step", "step")
    qtbot.waitUntil(lambda: bench.space.soundness.found is not None)
    assert panel.model.rows == []
    bench.run("step")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    assert "first at step 3; 1 node holds" in panel.model.rows[0].text
    assert panel.model.rows[0].severity == "info"  # so far nothing has it that was asked for
    bench.run("restart")
    qtbot.waitUntil(lambda: not panel.model.rows)


def test_half_a_million_are_one_row(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=[1000, 1000])
    root = builder.one("Sqrt", x, name="root")
    builder.one("Sum", root, np.array([0, 1], np.int32), name="y")
    numbers = np.random.default_rng(0).normal(size=(1000, 1000)).astype(np.float32)
    document = Document(builder.build(), feeds={"x:0": Constant(numbers)})
    bench.space.open_document(document.with_(fetches=(TensorRef("y"),)))
    bench.space.debugger.flush()
    panel = show(ProblemsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    (row,) = panel.model.rows
    assert row.text.startswith("NaN in root, first at step")
    assert row.text.endswith("; 2 nodes hold NaN or infinity")


def test_what_a_run_began_with_leads_to_the_run_that_made_it(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """Descent on w log w at a rate at which w is negative after a step, and then NaN."""
    builder = GraphBuilder()
    w = builder.variable("w", shape=[2])
    product = builder.one("Mul", builder.one("Log", w, name="log"), w, name="product")
    builder.one("Sum", product, np.array([0], np.int32), name="y")
    document = Document(
        builder.build(),
        request=GradientRequest.to("y", "w"),
        initial={"w": Constant(np.array([3, 1], np.float32))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 2.0}),),
    )
    bench.space.open_document(document)
    bench.space.debugger.flush()
    panel = show(ProblemsPanel(bench.space))
    bench.run(*["continue_"] * 5)
    qtbot.waitUntil(lambda: bool(panel.model.rows))
    assert panel.model.rows[0].text.startswith("NaN in w, there when run 5 began")
    click_link(panel, 0, qtbot)
    qtbot.waitUntil(lambda: bench.space.stop.run == 1)
    assert bench.space.selection == ("log",)
    qtbot.waitUntil(lambda: "of run 2" in panel.model.rows[0].text)
    assert panel.model.rows[0].text.startswith("NaN in log, first at step")
