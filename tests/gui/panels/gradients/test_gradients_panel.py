"""The gradients panel: the table, the verdict, and why a gradient is None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import Qt

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, Edge
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui import commands
from gradstep.gui.panels.gradients.gradient_check_table import (
    NAME,
    NATIVE,
    NUMERIC,
    OVERRIDE,
    VERDICT,
)
from gradstep.gui.panels.gradients.gradients_panel import GradientsPanel
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped


def column(panel: GradientsPanel, number: int) -> list[str]:
    return [panel.model.cell(row, number).text for row in range(panel.model.count())]


def test_three_gradients_side_by_side(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("override_add")
    bench.space.trust()
    panel = show(GradientsPanel(bench.space))
    qtbot.mouseClick(panel.check, Qt.MouseButton.LeftButton)
    assert column(panel, NAME) == ["c[0]", "c[1]", "k[0]", "k[1]"]
    assert column(panel, NATIVE) == ["0.5675", "-0.9944", "0.5142", "-0.9507"]
    assert column(panel, OVERRIDE) == ["0.7115", "-2.0782", "0.5450", "-1.8634"]
    assert column(panel, NUMERIC) == column(panel, NATIVE)
    assert column(panel, VERDICT) == ["×"] * 4
    assert panel.model.cell(0, OVERRIDE).tone == "problem"
    assert panel.model.cell(0, NATIVE).tone == "text"
    assert "native" in panel.sentence.text()
    link = panel.findChild(Link, "gradients.node.e")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert bench.space.selection == ("e",)


def test_a_network_without_a_loss_gets_one_by_a_click(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    build = GraphBuilder()
    x, w = build.placeholder("x", shape=(2, 3)), build.variable("w", shape=(3, 4))
    y = build.one("MatMul", x, w, name="y")
    bench.space.open_document(Document(graph=build.build(), fetches=(y.ref,)), None)
    panel = show(GradientsPanel(bench.space))
    assert "a loss of y" in panel.sentence.text()
    assert not panel.check.isVisibleTo(panel)
    link = panel.findChild(Link, "gradients.loss.sparse_softmax_cross_entropy_loss")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    document = bench.space.document
    assert [str(ref) for ref in document.request.wrt] == ["w:0"]
    assert document.request.of
    panel.refresh()
    assert panel.check.isVisibleTo(panel)


def test_a_native_gradient_needs_no_override_column(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    panel = show(GradientsPanel(bench.space))
    qtbot.mouseClick(panel.check, Qt.MouseButton.LeftButton)
    assert panel.table.isColumnHidden(OVERRIDE)
    assert column(panel, VERDICT) == ["✓"] * 4
    place = panel.table.visualRect(panel.model.index(2, NAME)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == ("k",)


def test_why_a_gradient_is_none(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel = show(GradientsPanel(bench.space))
    assert panel.findChild(Link, "gradients.why.k") is None
    commands.toggle_stop(bench.space, Edge("e", 1))
    bench.space.debugger.flush()
    link = panel.findChild(Link, "gradients.why.k")
    assert panel.findChild(Link, "gradients.why.c") is None
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert bench.space.selection == ("loss", "a", "e")
    reason = panel.findChild(Wrapped, "gradients.reason.k").text()
    assert "stop_gradient" in reason


def test_a_gradient_that_waits_for_a_feed_is_not_called_none(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    document = bench.open("tutorial")
    bench.space.open_document(document.with_(feeds={}), None)
    bench.space.debugger.flush()
    panel = show(GradientsPanel(bench.space))
    rows = range(panel.held.count())
    assert [[panel.held.cell(r, c).text for c in (0, 1)] for r in rows] == [
        ["c", "waiting"],
        ["k", "waiting"],
    ]
    assert panel.findChild(Link, "gradients.why.c") is None
    inspector = show(InspectorPanel(bench.space))
    bench.space.select(["c"])
    note = inspector.findChild(Wrapped, "inspector.gradient_flow.note")
    qtbot.waitUntil(lambda: note.text().startswith("waits for a feed of "))
    bench.space.select([], Edge("e", 0))

    def texts() -> list[str]:
        return [label.text() for label in inspector.findChildren(Text) if label.isVisible()]

    qtbot.waitUntil(lambda: "Carries" in texts())
    assert "waiting" in texts()
    assert "None" not in texts()


def test_each_missing_gradient_has_a_reason_of_its_own(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("floor_ceil_cast")
    panel = show(GradientsPanel(bench.space))
    for name, where in (("a", "floor"), ("b", "ceil"), ("c", "int_to_float"), ("f", "place")):
        reason = panel.findChild(Wrapped, f"gradients.reason.{name}")
        assert reason.text().startswith(f"at {where}: ")
        assert ";" not in reason.text()
        qtbot.mouseClick(panel.findChild(Link, f"gradients.why.{name}"), Qt.MouseButton.LeftButton)
        assert f"the gradient ends at {where}" in reason.text()


def test_why_a_gradient_is_nan(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("nan_gradient")
    panel = show(GradientsPanel(bench.space))
    assert panel.findChild(Link, "gradients.why.p") is None
    bench.run("continue_")
    qtbot.waitUntil(lambda: panel.findChild(Link, "gradients.why.p") is not None)
    first = panel.findChild(Link, "gradients.first.p")
    assert not first.isVisible()
    qtbot.mouseClick(panel.findChild(Link, "gradients.why.p"), Qt.MouseButton.LeftButton)
    reason = panel.findChild(Wrapped, "gradients.reason.p")
    assert "logp (Log) makes the first infinity at index [0], from p = 0" in reason.text()
    assert bench.space.selection == ("loss", "term", "safe", "logp")
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert bench.space.stop.step == bench.step_of("logp") + 1
    qtbot.waitUntil(lambda: panel.findChild(Link, "gradients.why.p") is None)  # not yet there


def test_why_a_gradient_is_zero(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    build = GraphBuilder()
    dead = build.one("Relu", build.placeholder("x", shape=[2]), name="dead")
    build.one("Sum", dead, np.array([0], np.int32), name="y")
    request, feeds = GradientRequest.to("y", "x"), {"x:0": Constant(np.float32([-1, -2]))}
    bench.space.open_document(Document(graph=build.build(), request=request, feeds=feeds))
    bench.space.debugger.flush()
    panel = show(GradientsPanel(bench.space))
    bench.run("continue_")
    qtbot.waitUntil(lambda: panel.findChild(Link, "gradients.why.x") is not None)
    qtbot.mouseClick(panel.findChild(Link, "gradients.why.x"), Qt.MouseButton.LeftButton)
    reason = panel.findChild(Wrapped, "gradients.reason.x").text()
    assert "a gradient arrives at dead (Relu) at index [0] and none of it goes on" in reason
    assert "it is inactive" in reason
    assert bench.space.selection == ("y", "dead")


def test_a_kink_is_neither_right_nor_wrong(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    build = GraphBuilder()
    build.one("Relu", build.placeholder("x", shape=[2]), name="y")
    request = GradientRequest.to("y", "x")
    feeds = {"x:0": Constant(np.float32([0, 1]))}
    bench.space.open_document(Document(graph=build.build(), request=request, feeds=feeds))
    bench.space.debugger.flush()
    panel = show(GradientsPanel(bench.space))
    qtbot.mouseClick(panel.check, Qt.MouseButton.LeftButton)
    assert column(panel, VERDICT) == ["∧", "✓"]
    assert "kink" in panel.model.cell(0, VERDICT).tip
    assert "a kink at index [0]" in panel.findChild(Link, "gradients.node.y").text()


def test_without_a_request_it_says_how_to_make_one(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(GradientsPanel(bench.space))
    assert "Differentiate" in panel.empty_text
