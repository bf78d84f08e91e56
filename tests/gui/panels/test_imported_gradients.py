"""A training graph of TensorFlow's in the panels: its gradients are there, and nobody asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.dialogs.request_dialog import RequestDialog
from gradstep.gui.model.initial_folding import fold_scopes
from gradstep.gui.panels.gradients.gradient_values import NAME, NORM, VALUE
from gradstep.gui.panels.gradients.gradients_panel import GradientsPanel
from gradstep.gui.panels.timeline.run_bars import RunBars
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel
from gradstep.gui.panels.widgets.small_labels import Link, Wrapped
from tests.support import gradient_facts as facts


def finish(bench: Any) -> None:
    bench.space.control("continue_")
    assert bench.space.stop.reason == "end"


@pytest.mark.slow
def test_the_gradients_of_what_is_trained_are_listed(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.space.open_document(facts.fed("residual_network"))
    bench.space.debugger.flush()
    panel = show(GradientsPanel(bench.space))
    rows = range(panel.held.count())
    names = [panel.held.cell(row, NAME).text for row in rows]
    assert names[-2:] == ["head/w", "head/b"]
    assert {panel.held.cell(row, VALUE).text for row in rows} == {"waiting"}
    finish(bench)
    assert panel.held.cell(0, VALUE).text.startswith("3×3×3×4")
    assert float(panel.held.cell(0, NORM).text) > 0
    place = panel.values.visualRect(panel.held.index(1, NAME)).center()
    qtbot.mouseClick(panel.values.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == (names[1],)
    assert panel.bad.isVisibleTo(panel)
    qtbot.mouseClick(
        panel.findChild(Link, "gradients.why.head/temperature"), Qt.MouseButton.LeftButton
    )
    reason = panel.findChild(Wrapped, "gradients.reason.head/temperature").text()
    assert "the gradient ends at head/frozen_t" in reason


@pytest.mark.slow
def test_names_that_differ_at_their_end_look_different(
    bench: Any, show: Callable[..., Any]
) -> None:
    """In a narrow panel, too: a layer's gamma is not its beta."""
    bench.space.open_document(facts.fed("residual_network"))
    bench.space.debugger.flush()
    panel = show(GradientsPanel(bench.space))
    panel.resize(240, 600)
    names = [panel.held.cell(row, NAME).text for row in range(panel.held.count())]
    picture = panel.values.viewport().grab().toImage()
    painted = [
        picture.copy(panel.values.visualRect(panel.held.index(names.index(name), NAME)))
        for name in ("block0/a_bn/gamma", "block0/a_bn/beta")
    ]
    assert painted[0].width() < 120
    assert painted[0] != painted[1]


@pytest.mark.slow
def test_a_check_of_them_takes_the_place_of_the_list(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.space.open_document(facts.fed("adam_ref"))
    bench.space.debugger.flush()
    panel = show(GradientsPanel(bench.space))
    assert panel.values.isVisibleTo(panel)
    qtbot.mouseClick(panel.check, Qt.MouseButton.LeftButton)
    assert panel.sentence.text() == "The gradients agree with finite differences."
    assert panel.table.isVisibleTo(panel)
    assert not panel.values.isVisibleTo(panel)


def test_differentiate_offers_what_the_graph_differentiates(bench: Any) -> None:
    """The loss and what is trained; never slots, whatever is selected."""
    bench.space.open_document(facts.document("adam_ref"))
    bench.space.select(["w1/Adam"])
    dialog = RequestDialog(bench.space)
    assert (dialog.of.text(), dialog.wrt.text()) == ("loss", "w1, b1, w2, b2")
    own = facts.document("adam_ref").with_(imported=())
    bench.space.open_document(own)
    bench.space.select(["logits"])
    dialog = RequestDialog(bench.space)
    assert (dialog.of.text(), dialog.wrt.text()) == ("logits", "w1, b1, w2, b2")


def test_a_stop_shows_what_it_changes(bench: Any) -> None:
    """The graph's own gradients cannot be stopped: so they are derived, with the stop."""
    bench.space.open_document(facts.fed("adam_ref"))
    bench.space.debugger.flush()
    held = bench.space.program.gradients
    assert held["w1:0"].startswith("gradients/")
    commands.toggle_stop(bench.space, Edge("h", 0))
    bench.space.debugger.flush()
    assert bench.space.program.gradients["w1:0"] != held["w1:0"]
    assert ("h", 0) in {(end.op, end.index) for end in bench.space.program.blocked}
    bench.space.undo_stack.undo()
    bench.space.debugger.flush()
    assert bench.space.program.gradients == held


def test_the_step_is_seen_at_the_forward_node(bench: Any) -> None:
    """While gradients are folded away; at their own box once that is open."""
    bench.space.open_document(fold_scopes(facts.fed("adam_ref")))
    bench.space.debugger.flush()
    bench.space.control("run_to", "gradients/h_grad/ReluGrad")
    assert current(bench) == "h"
    document = bench.space.document
    bench.space.open_document(document.with_(view=type(document.view)()))
    bench.space.debugger.flush()
    bench.space.control("run_to", "gradients/h_grad/ReluGrad")
    assert current(bench) == "gradients/h_grad/ReluGrad"


def current(bench: Any) -> str:
    """The box of the current step."""
    space = bench.space
    collapsed = space.stacks.shown_by
    visible = VisibleGraph.of(space.shown, space.inference, space.document.request, collapsed)
    number = OverlayState(space, visible).current
    return "" if number is None else visible.boxes[number].id


def test_every_stretch_of_the_timeline_has_its_own_number(
    bench: Any, show: Callable[..., Any]
) -> None:
    bench.space.open_document(facts.fed("gan"))
    bench.space.debugger.flush()
    panel = show(TimelinePanel(bench.space))
    bars: RunBars = panel.bars
    assert [bars.caption(*stretch)[0] for stretch in bars.stretches] == [
        "forward 72 ops",
        "backward 122 ops",
        "update (Adam)",
        "backward 78 ops",
        "update (Adam)",
    ]
    assert TensorRef("d_loss") == facts.document("gan").imported[0].of[0]
