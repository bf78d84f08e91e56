"""Point 3: forwards, backwards, into and over, by key and by button; the canvas shows it all."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.graph.model import Edge

pytestmark = pytest.mark.xvfb
FORWARD = ["d", "e", "a", "loss"]


@pytest.fixture
def tutorial(user, examples):
    user.open(examples / "tutorial.gradstep")
    return user


def place(user) -> tuple[int, int, str]:
    """Run, step and the node that comes next."""
    stop = user.workspace.stop
    return stop.run, stop.step, stop.node


def walk(user, key: str, count: int) -> list[str]:
    """Press a key so often; the nodes that came next each time."""
    nodes = []
    for _ in range(count):
        nodes.append(user.workspace.stop.node)
        user.key(key)
    return nodes


def press_until(user, key: str, phase: str) -> None:
    while user.workspace.stop.phase != phase:
        user.key(key)


def flows(user) -> dict[Edge, float]:
    """The gradients drawn on the wires: wire -> norm."""
    stage = user.canvas.stage
    links = enumerate(stage.arrays.visible.links)
    drawn = ((link, stage.facts.flow(number)) for number, link in links)
    return {link.wires[0]: flow.norm for link, flow in drawn if flow is not None}


def glows(user, node: str) -> bool:
    """Whether the outline of a node has the colour of the current step."""
    return user.shows_color(user.corner(node), user.workspace.theme.current, reach=2)


def test_forward_op_by_op_with_values_on_the_nodes(tutorial) -> None:
    user = tutorial
    order = [step.op for step in user.workspace.program.steps if step.phase == "forward"]
    assert walk(user, "F10", len(order)) == order
    assert [name for name in order if name in FORWARD] == FORWARD
    assert user.workspace.stop.phase == "backward"
    for name, shown in {"d": "1.060 1.960", "e": "0.110 0.090", "loss": "0.663694"}.items():
        assert f"value [ {shown}" in user.says(name) or f"value {shown}" in user.says(name)
    assert "gradient waiting" in user.says("c")


def test_the_current_step_glows_and_only_it(tutorial) -> None:
    user = tutorial
    for key, node in (("F10", "a"), ("F10", "loss"), ("Shift+F10", "a")):
        while user.workspace.stop.node != node:
            user.key(key)
        assert glows(user, node)
        assert not any(glows(user, other) for other in ("d", "e", "a", "loss") if other != node)


def test_the_gradient_flows_back_over_the_wires(tutorial) -> None:
    user = tutorial
    press_until(user, "F10", "backward")
    assert flows(user) == {}
    press_until(user, "F10", "update")
    assert set(flows(user)) == {
        Edge("loss", 0), Edge("a", 0), Edge("a", 1), Edge("d", 1), Edge("e", 0), Edge("e", 1)
    }  # fmt: skip
    assert flows(user)[Edge("e", 1)] == pytest.approx(np.hypot(0.514158, 0.950707), rel=1e-5)
    assert flows(user)[Edge("a", 0)] == pytest.approx(np.hypot(0.053356, 0.043655), rel=1e-4)
    colour = user.workspace.theme.backward
    assert user.shows_color(user.wire("e", "a"), colour, reach=14)
    assert not user.shows_color(user.wire("labels", "loss"), colour, reach=14)
    user.take_picture("stepping-backward")


def test_into_the_operations_of_a_gradient_and_out_again(tutorial) -> None:
    user = tutorial
    press_until(user, "F10", "backward")
    while user.workspace.stop.node != "a":
        user.key("F10")
    _, start, _ = place(user)
    inside = [step for step in user.workspace.program.steps if step.phase == "backward"]
    mine = [step.op for step in inside if step.origin == "a"]
    assert len(mine) > 1, "the gradient of a product takes several operations"
    for op in mine:
        assert user.workspace.stop.op == op
        user.key("F11")
    assert place(user)[1] == start + len(mine)
    user.key("Shift+F10")
    assert place(user) == (0, start, "a")
    user.key("F11")
    user.key("Shift+F11")
    assert place(user)[1] == start + len(mine)


def test_stepping_back_restores_every_value(tutorial) -> None:
    user = tutorial
    names = [*FORWARD, "c", "k"]
    seen = []
    while user.workspace.stop.reason != "end":
        seen.append((place(user), shown(user, names)))
        user.key("F10")
    assert user.value("c")[0] == pytest.approx(0.059847843)
    for where, values in reversed(seen):
        user.key("Shift+F10")
        assert place(user) == where
        assert shown(user, names) == values
    assert user.value("c").tolist() == np.float32([0.06, -0.04]).tolist()
    assert flows(user) == {}


def shown(user, names) -> list[str]:
    """What the nodes say, values and gradients."""
    return [user.says(name) for name in names]


def test_a_breakpoint_stops_forwards_and_backwards(tutorial) -> None:
    user = tutorial
    user.select("e")
    user.key("F9")
    assert "breakpoint" in user.says("e")
    box = user.canvas.arrays.rects[user.canvas.arrays.visible.number["e"]]
    dot = user.canvas.mapFromScene(float(box[0]) + 1, float(box[1]) + 1)
    assert user.shows_color(dot, user.workspace.theme.problem, reach=2)
    user.key("F5")
    assert (user.text("status.state"), user.workspace.stop.phase) == (
        "Stopped at breakpoint",
        "forward",
    )
    user.key("F5")
    assert (user.workspace.stop.node, user.workspace.stop.phase) == ("e", "backward")
    user.take_picture("stepping-breakpoint")
    user.key("F5")
    assert user.workspace.stop.reason == "end"
    user.key("Ctrl+Shift+F10")
    assert (user.workspace.stop.node, user.workspace.stop.phase) == ("e", "backward")
    user.key("Ctrl+Shift+F10")
    assert (user.workspace.stop.node, user.workspace.stop.phase) == ("e", "forward")
    user.key("F9")
    user.key("Ctrl+Shift+F10")
    assert user.workspace.stop.step == 0


def test_the_toolbar_does_the_same(tutorial) -> None:
    user = tutorial
    assert not user.find("toolbar.run.step_back").isEnabled()
    user.click("toolbar.run.step")
    user.click("toolbar.run.step")
    assert place(user)[1] == 2
    user.click("toolbar.run.step_back")
    assert place(user)[1] == 1
    user.click("toolbar.backward")
    assert user.workspace.stop.phase == "backward"
    before = place(user)[1]
    user.click("toolbar.run.step_into")
    assert place(user)[1] == before + 1
    user.click("toolbar.run.continue")
    assert user.workspace.stop.reason == "end"
    user.click("toolbar.run.reverse_continue")
    assert place(user)[1] == 0
    user.click("toolbar.update")
    user.click("toolbar.run.restart")
    assert place(user)[:2] == (0, 0)
