"""Point 5: overrides for one operation, a scope or a type; gradients stopped on a wire by a key."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.gui.canvas.scene import polyline

pytestmark = pytest.mark.xvfb
TWICE = "def twice(op, grad):\n    return grad + grad, grad + grad\n"
D, E = np.array([0.053356, -0.043655]), np.array([0.514158, -0.950707])  # dL/dd and dL/de, native


@pytest.fixture
def tutorial(user, examples):
    user.open(examples / "tutorial.gradstep")
    user.click("toolbar.update")
    return user


def gradients(user) -> dict[str, np.ndarray | None]:
    """dL/dc and dL/dk after the backward pass."""
    user.click("toolbar.update")
    return {name: user.gradient(name) for name in ("c", "k")}


def choose_gradient(user, node: str, *path: str) -> None:
    user.select(node)
    user.click("inspector.gradient")
    user.pick(*path)


def write_twice(user) -> None:
    """A function that doubles every gradient, in force for `d`."""
    choose_gradient(user, "d", "New gradient function…")
    user.type_into("code_dialog.name", "Twice")
    user.type_into("code_dialog.code", TWICE)
    user.click("code_dialog.apply")


def test_one_operation_then_its_scope_then_its_type(tutorial) -> None:
    user = tutorial
    write_twice(user)
    found = gradients(user)
    assert np.allclose(found["c"], 2 * D + E, atol=1e-5)
    assert np.allclose(found["k"], E, atol=1e-5)
    assert "overridden by Twice" in user.says("d")
    assert "overridden" not in user.says("e")

    user.click("toolbar.override.0")
    assert np.allclose(gradients(user)["c"], D + E, atol=1e-5)
    user.type_into("inspector.name", "layer/d")
    choose_gradient(user, "layer/d", "Override more than this node", "all in layer/", "Twice")
    found = gradients(user)
    assert np.allclose(found["c"], 2 * D + E, atol=1e-5)
    assert np.allclose(found["k"], E, atol=1e-5)
    user.take_picture("override-by-scope")

    user.click("toolbar.override.1")
    user.select("e")
    user.key("Ctrl+G")
    box = user.find("override_dialog.target")
    kinds = [box.itemData(i)[0] for i in range(box.count())]
    box.setFocus()
    for _ in range(kinds.index(OverrideKind.TYPE)):
        user.key("Down")
    assert user.find("override_dialog.gradient").currentText() == "Twice"
    user.click("override_dialog.apply")
    found = gradients(user)
    assert np.allclose(found["c"], 2 * (D + E), atol=1e-5)
    assert np.allclose(found["k"], 2 * E, atol=1e-5)
    assert "overridden by Twice" in user.says("e")
    user.take_picture("override-by-type")


def test_a_wire_is_stopped_by_a_key_and_let_through_again(tutorial) -> None:
    user = tutorial
    user.click_canvas(user.wire("e", "a"))
    assert user.workspace.selected_edge == Edge("a", 1)
    user.key("S")
    found = gradients(user)
    assert np.allclose(found["c"], D, atol=1e-5)
    assert found["k"] is None
    assert user.workspace.gradient("k").state == "none"
    assert "gradient none" in user.says("k")

    user.show_tab("Gradients")
    assert "stop_gradient" in user.text("gradients.reason.k")
    user.click("gradients.why.k")
    assert set(user.workspace.selection) == {"loss", "a"}, "the way back, as far as it goes"
    user.take_picture("stop-gradient")
    user.click_canvas(user.wire("e", "a"))

    user.key("S")
    user.click("toolbar.update")
    assert np.allclose(user.gradient("k"), E, atol=1e-5)
    assert not user.sees("gradients.reason.k")


def test_the_blocked_path_is_drawn(tutorial) -> None:
    user = tutorial
    stop = user.wire("e", "a")
    user.click_canvas(stop)
    user.key("S")
    user.click("toolbar.update")
    stage = user.canvas.stage
    links = stage.arrays.visible.links
    assert {links[i].wires for i in np.flatnonzero(stage.facts.stopped_links)} == {(Edge("a", 1),)}
    assert {links[i].wires[0] for i in np.flatnonzero(stage.facts.dead_links)} == {
        Edge("a", 1),
        Edge("e", 0),
        Edge("e", 1),
    }
    assert all(stage.facts.flow(i) is None for i in np.flatnonzero(stage.facts.dead_links))
    into_k = next(
        i for i in np.flatnonzero(stage.facts.dead_links) if links[i].wires == (Edge("e", 1),)
    )
    assert "ends at a" in stage.facts.why_dead(into_k)
    theme = user.workspace.theme
    (line,) = stage.arrays.routes.lines(np.flatnonzero(stage.facts.stopped_links), 0.5)
    bar = user.canvas.mapFromScene(*polyline.at(line, 0.5)[0].tolist())
    assert user.shows_color(bar, theme.backward, reach=2)
    assert not user.shows_color(user.wire("k", "e"), theme.backward, reach=8)


def test_the_inspector_stops_each_wire_of_a_node(tutorial) -> None:
    user = tutorial
    user.select("d", "e")
    user.click_canvas(user.node("d"), Qt.KeyboardModifier.ControlModifier)
    assert user.workspace.selection == ("e",)
    user.click("inspector.stop.0")
    assert user.workspace.document.request.stopped_edges == {Edge("e", 0)}
    found = gradients(user)
    assert np.allclose(found["c"], D, atol=1e-5)
    assert np.allclose(found["k"], E, atol=1e-5)
    assert user.workspace.document.graph["e"].inputs[0] == TensorRef("c")
