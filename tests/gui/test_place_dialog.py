"""Nodes and scopes on another device, from the menu on: what is shown, undone, and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from gradstep.core.document.document import Document
from gradstep.core.document.placement_edits import place
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.edits import set_devices
from gradstep.core.graph.model import Edge
from gradstep.core.graph.placed_devices import device_spec
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.interact import tooltips
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.dialogs.place_dialog import PlaceDialog
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel

pytestmark = pytest.mark.slow
OTHER = "emulate:torch"


def choose(driver: Driver, *names: str, device: str = OTHER) -> PlaceDialog:
    driver.workspace.select(list(names))
    driver.window.actions_.run("graph.place")
    driver.settle()
    found = driver.window.findChildren(PlaceDialog)
    [dialog] = [each for each in found if each.isVisible()]
    dialog.device.setCurrentIndex(dialog._names.index(device))
    dialog.finish()
    driver.settle()
    return dialog


def inspected(driver: Driver) -> str:
    panel = driver.window.findChild(InspectorPanel)
    assert panel is not None
    shown = (each for each in panel.findChildren(QWidget) if each.isVisible())
    return " ".join(each.text() for each in shown if callable(getattr(each, "text", None)))


def badges(driver: Driver) -> dict[tuple[str, str], str]:
    """Ends of a link -> what its badge says."""
    stage = driver.window.canvas.stage
    boxes, links = stage.arrays.visible.boxes, stage.arrays.visible.links
    return {
        (boxes[links[n].source].id, boxes[links[n].target].id): crossing.badge
        for n, crossing in stage.facts.crossings.items()
    }


def devices_shown(driver: Driver) -> dict[str, tuple[str, ...]]:
    """On boxes."""
    boxes = driver.window.canvas.stage.arrays.visible.boxes
    return {box.id: box.devices for box in boxes if box.devices}


def test_wires_say_what_crosses_and_the_run_is_the_same(tutorial: Driver) -> None:
    tutorial.key("F5")
    before = tutorial.workspace.value("loss")
    assert badges(tutorial) == {}
    choose(tutorial, "d", "a")
    assert badges(tutorial) == {
        ("data", "d"): "8 B", ("c", "d"): "8 B", ("e", "a"): "8 B", ("a", "loss"): "8 B"
    }  # fmt: skip
    assert tutorial.window.status.device.text() == "CPU (NumPy) + torch (emulated)"
    tutorial.key("F5")
    after = tutorial.workspace.value("loss")
    assert before is not None
    assert after is not None
    np.testing.assert_allclose(after.head, before.head, rtol=1e-2)
    tutorial.key("Ctrl+Z")
    assert badges(tutorial) == {}
    assert tutorial.window.status.device.text() == "CPU (NumPy)"


def test_node_wire_and_card_say_where_it_is_computed(tutorial: Driver) -> None:
    choose(tutorial, "a")
    tutorial.workspace.select(["a"])
    tutorial.settle()
    assert "torch (emulated)" in inspected(tutorial)
    visible = tutorial.window.canvas.stage.arrays.visible
    assert [box.id for box in visible.boxes if box.devices] == ["a"]
    tutorial.workspace.select([], Edge("a", 0))
    tutorial.settle()
    assert "CPU → torch (emulated), 8 B" in inspected(tutorial)
    crossings = tutorial.window.canvas.stage.facts.crossings
    [link] = [n for n in crossings if visible.links[n].wires[0] == Edge("a", 0)]
    said = tooltips.text(tutorial.window.canvas.stage, Hit(link=link))
    assert "crosses devices: CPU → torch (emulated), 8 B" in said


def test_a_badge_is_painted(tutorial: Driver) -> None:
    canvas = tutorial.window.canvas
    before = canvas.grab().toImage()
    choose(tutorial, "d")
    tutorial.workspace.select([])
    tutorial.settle()
    assert canvas.grab().toImage() != before


def test_a_badge_lies_over_the_gradient_that_came_back(tutorial: Driver) -> None:
    choose(tutorial, "d")
    tutorial.key("F5")
    tutorial.workspace.select([])
    tutorial.settle()
    canvas, stage = tutorial.window.canvas, tutorial.window.canvas.stage
    [link] = [n for n in stage.facts.crossings if stage.facts.flow(n) is not None][:1]
    middle = canvas.mapFromScene(*stage.arrays.routes.middle(link).tolist())
    badge = QRect(middle, middle).adjusted(-9, -4, 9, 4)
    image = canvas.viewport().grab(badge).toImage()
    across, down = range(image.width()), range(image.height())
    seen = {image.pixelColor(x, y).name() for x in across for y in down}
    assert tutorial.workspace.theme.panel.name() in seen
    assert tutorial.workspace.theme.backward.name() not in seen


def test_a_badge_says_what_crosses_after_an_edit_of_the_shape(driver: Driver) -> None:
    build = GraphBuilder()
    build.one("Tanh", build.placeholder("x", shape=(3, 2)), name="y")
    driver.workspace.open_document(place(Document(build.build()), ["y"], OTHER))
    driver.settle()
    assert badges(driver) == {("x", "y"): "24 B"}
    before = driver.window.canvas.grab().toImage()
    commands.set_attr(driver.workspace, "x", "shape", Shape.of(3, 5))
    driver.settle()
    assert badges(driver) == {("x", "y"): "60 B"}
    assert driver.window.canvas.grab().toImage() != before


def test_a_wish_of_tensorflows_is_shown_and_not_followed(tutorial: Driver) -> None:
    document = tutorial.workspace.document
    wished = set_devices(document.graph, {"a": "/device:GPU:0"})
    tutorial.workspace.open_document(document.with_(graph=wished))
    tutorial.workspace.select(["a"])
    tutorial.settle()
    assert "/device:GPU:0: a wish, not followed" in inspected(tutorial)
    assert badges(tutorial) == {}
    assert tutorial.workspace.failure is None


def test_what_a_file_places_and_nobody_can_is_said_and_taken_away(tutorial: Driver) -> None:
    spec = device_spec(OTHER)
    document = tutorial.workspace.document
    placed = set_devices(document.graph, {"c": spec})
    tutorial.workspace.open_document(document.with_(graph=placed))
    tutorial.workspace.select(["c"])
    tutorial.settle()
    assert "torch (emulated): not followed" in inspected(tutorial)
    assert tutorial.window.status.device.text() == "CPU (NumPy)"
    choose(tutorial, "c", device="")
    assert tutorial.workspace.document.graph["c"].device == ""


def test_what_is_in_a_loop_is_placed_and_its_wires_say_what_crosses(
    driver: Driver, examples: Path
) -> None:
    driver.open(examples / "while_loop.gradstep")
    commands.set_collapsed(driver.workspace, frozenset(), "Open")
    driver.key("F5")
    before = driver.workspace.value("y")
    choose(driver, "while/Mul")
    assert badges(driver)["while/Identity_1", "while/Mul"] == "4 B"
    assert driver.window.status.device.text() == "CPU (NumPy) + torch (emulated)"
    driver.workspace.select(["while/Mul"])
    driver.settle()
    assert "torch (emulated)" in inspected(driver)
    driver.window.actions_.run("graph.place")
    driver.settle()
    [dialog] = [each for each in driver.window.findChildren(PlaceDialog) if each.isVisible()]
    assert dialog.device.currentText() == "torch (emulated)"
    dialog.reject()
    driver.key("F5")
    after = driver.workspace.value("y")
    assert before is not None
    assert after is not None
    np.testing.assert_allclose(after.head, before.head)


def test_a_scope_is_placed_whole_and_its_box_has_the_badge(driver: Driver) -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=(3, 2))
    y = build.one("Tanh", x, name="layer/tanh")
    z = build.one("Exp", y, name="layer/exp")
    build.one("Neg", z, name="y")
    driver.workspace.open_document(Document(build.build()))
    driver.settle()
    choose(driver, "layer/tanh", "layer/exp")
    assert badges(driver) == {("x", "layer/tanh"): "24 B", ("layer/exp", "y"): "24 B"}
    driver.window.actions_.run("view.collapse_scopes")
    driver.settle()
    assert badges(driver) == {("x", "layer/"): "24 B", ("layer/", "y"): "24 B"}
    assert devices_shown(driver) == {"layer/": (OTHER,)}
    choose(driver, "layer/exp", device="emulate:tf-gpu")
    assert devices_shown(driver) == {"layer/": ("emulate:tf-gpu", OTHER)}
    driver.key("Ctrl+Z")
    assert devices_shown(driver) == {"layer/": (OTHER,)}
    choose(driver, "layer/tanh", "layer/exp", device="")
    assert badges(driver) == {}


def test_what_cannot_be_placed_is_said_in_the_dialog(tutorial: Driver) -> None:
    dialog = choose(tutorial, "c")
    assert "c cannot be placed: variables, feeds" in dialog._wrong.text()
    dialog.reject()
    assert badges(tutorial) == {}


def test_a_device_that_is_not_here_is_said_at_the_node_and_taken_away(tutorial: Driver) -> None:
    document = place(tutorial.workspace.document, ["a"], "elsewhere")
    tutorial.workspace.open_document(document)
    tutorial.settle()
    failure = tutorial.workspace.failure
    assert failure is not None
    assert failure.node == "a"
    assert "there is no device 'elsewhere'" in failure.message
    assert "Graph > Device…" in failure.hint
    choose(tutorial, "a", device="")
    tutorial.key("F10")
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.step > 0
