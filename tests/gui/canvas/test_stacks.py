"""Equal blocks in a row on the canvas: one box, which opens block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest

from gradstep.core.debug.breaks.breakpoints import BreakpointKind
from gradstep.core.document.document import Document
from gradstep.core.graph.edits import set_attr
from gradstep.core.graph.stacked_blocks import each_by_itself
from gradstep.core.ops.typing.inference import infer
from gradstep.gui import commands
from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.canvas.graph_thumbnail import painted, thumbnail
from gradstep.gui.canvas.interact import screen_reader, tooltips
from gradstep.gui.canvas.scene import box_placement, scene_model
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.look.theme import DARK
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.name_field import NameField
from tests.support.block_documents import decoder

pytestmark = pytest.mark.slow

FIRST = ["ids", "targets", "wte/", "h/0/", "ln_f/", "loss/"]


@pytest.fixture(scope="module")
def twelve() -> Document:
    return decoder(12)


@pytest.fixture
def stacked(canvas: Any, twelve: Document) -> Any:
    """What the engine would say of it is of no concern: it has not heard of it yet."""
    canvas.space.open_document(twelve)
    return canvas


def boxes(canvas: Any) -> list[str]:
    return [box.id for box in canvas.view.arrays.visible.boxes]


def stacks(canvas: Any) -> dict[str, int]:
    """Name of each stack -> how many blocks it has."""
    found = canvas.view.arrays.visible.boxes
    return {box.name: len(box.stack) for box in found if box.stack}


def click(canvas: Any, name: str) -> None:
    QTest.mouseClick(canvas.view.viewport(), Qt.MouseButton.LeftButton, pos=canvas.middle(name))


def test_twelve_blocks_are_one_box(stacked: Any) -> None:
    assert sorted(boxes(stacked)) == sorted(FIRST)
    assert stacks(stacked) == {"h/0 … 11": 12}
    number = stacked.number("h/0/")
    words = tooltips.text(stacked.view.stage, Hit(box=number))
    assert words.splitlines()[0] == "h/0 … 11: ×12 · 47 ops each"
    assert "open the first" in words
    assert screen_reader.describe(stacked.view.stage, number).startswith("h/0 … 11, ×12")


def test_enter_opens_the_first_and_the_rest_stays_a_stack(stacked: Any) -> None:
    click(stacked, "h/0/")
    assert {name.split("/")[1] for name in stacked.space.selection} == {*map(str, range(12))}
    QTest.keyClick(stacked.view, Qt.Key.Key_Return)
    assert "h/0/attn/" in boxes(stacked)
    assert stacks(stacked) == {"h/1 … 11": 11}
    stacked.space.undo_stack.undo()
    assert sorted(boxes(stacked)) == sorted(FIRST)


def test_a_double_click_opens_it_as_well_and_the_title_closes_it(stacked: Any) -> None:
    port = stacked.view.viewport()
    QTest.mouseDClick(port, Qt.MouseButton.LeftButton, pos=stacked.middle("h/0/"))
    assert stacks(stacked) == {"h/1 … 11": 11}
    stacked.space.select(["h/0/ln_1/Mean"])
    stacked.view._scopes.collapse("h/0")
    assert stacks(stacked) == {"h/0 … 11": 12}


def test_going_to_an_operation_parts_the_stack(stacked: Any) -> None:
    commands.reveal(stacked.space, "h/5/AddV2")
    assert stacks(stacked) == {"h/0 … 4": 5, "h/6 … 11": 6}
    assert "h/5/AddV2" in boxes(stacked)
    rect = stacked.view.box_rect(stacked.number("h/5/AddV2"))
    assert stacked.view.camera.visible.contains(rect)
    commands.reveal(stacked.space, "h/7")
    assert stacks(stacked) == {"h/0 … 4": 5, "h/6 … 11": 6}, "a scope is shown closed"
    assert stacked.view.revealer.flash.rect.contains(stacked.view.box_rect(stacked.number("h/6/")))


def test_no_two_boxes_lie_over_each_other(stacked: Any) -> None:
    commands.reveal(stacked.space, "h/5/AddV2")
    arrays = stacked.view.arrays
    assert not any(map(arrays.is_covered, range(len(arrays))))


def test_an_edit_of_a_block_takes_it_out(stacked: Any) -> None:
    space = stacked.space
    graph = set_attr(space.document.graph, "h/3/attn/scores", "transpose_a", True)
    space.edit("Turn it", space.document.with_(graph=graph))
    assert stacks(stacked) == {"h/0 … 2": 3, "h/4 … 11": 8}
    assert "h/3/" in boxes(stacked)
    space.undo_stack.undo()
    assert stacks(stacked) == {"h/0 … 11": 12}


def test_an_edit_elsewhere_leaves_what_is_drawn(stacked: Any) -> None:
    visible, shown_by = stacked.view.arrays.visible, stacked.space.stacks.shown_by
    space = stacked.space
    graph = set_attr(space.document.graph, "loss/Mean", "keep_dims", False)
    space.edit("Say it", space.document.with_(graph=graph))
    assert stacked.view.arrays.visible is visible
    assert stacked.space.stacks.shown_by is shown_by


def test_a_breakpoint_on_the_stack_is_one_on_each_block(stacked: Any) -> None:
    click(stacked, "h/0/")
    commands.toggle_breakpoint(stacked.space)
    points = stacked.space.document.breakpoints
    assert {(p.kind, p.target) for p in points} == {
        (BreakpointKind.SCOPE, f"h/{i}") for i in range(12)
    }
    assert stacked.view.stage.facts.breakpoints == {stacked.number("h/0/"): True}
    commands.toggle_breakpoint(stacked.space)
    assert not stacked.space.document.breakpoints
    commands.toggle_breakpoint(stacked.space, "h/3/")
    assert stacked.view.stage.facts.breakpoints == {stacked.number("h/0/"): True}, "seen there"


def test_a_stack_is_moved_as_one(stacked: Any) -> None:
    stage = stacked.view.stage
    before = stage.arrays.centre(stacked.number("h/0/"))
    stage.move([stacked.number("h/0/")], 48.0, 96.0)
    x, y = stage.arrays.centre(stacked.number("h/0/"))
    assert (x, y) == (before[0] + 48.0, before[1] + 96.0)
    commands.reveal(stacked.space, "h/0/AddV2")
    commands.set_collapsed(
        stacked.space, stacked.space.document.view.collapsed | {"h/0"}, "Close it"
    )
    assert stage.arrays.centre(stacked.number("h/0/")) == (x, y)


def test_blocks_that_had_places_of_their_own_come_along(stacked: Any) -> None:
    stage, row = stacked.view.stage, BY_ID["view.stacks"]
    row.run(stacked.space)
    stage.move([stacked.number("ids")], 0.0, 24.0)  # all places are the document's now
    places = {f"h/{i}/": stage.arrays.centre(stacked.number(f"h/{i}/")) for i in range(12)}
    row.run(stacked.space)
    stage.move([stacked.number("h/0/")], 48.0, 96.0)
    row.run(stacked.space)
    for id, (x, y) in places.items():
        assert stage.arrays.centre(stacked.number(id)) == (x + 48.0, y + 96.0)


def test_a_block_is_renamed_where_it_comes_out_of_the_stack(stacked: Any) -> None:
    names = stacked.space.shown.operations
    stacked.space.select([name for name in names if name.startswith("h/3/")])
    stacked.space.ask_window("rename")
    (field,) = stacked.view.viewport().findChildren(NameField)
    assert field.text() == "h/3"
    assert stacks(stacked) == {"h/0 … 2": 3, "h/4 … 11": 8}
    QTest.keyClicks(field, "three")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert "h/three/AddV2" in boxes(stacked)


def test_who_wants_them_apart_gets_them_apart(stacked: Any) -> None:
    row = BY_ID["view.stacks"]
    assert row.checked is not None
    assert row.checked(stacked.space)
    row.run(stacked.space)
    assert not row.checked(stacked.space)
    assert stacks(stacked) == {}
    assert {f"h/{i}/" for i in range(12)} < {*boxes(stacked)}
    arrays = stacked.view.arrays
    assert not any(map(arrays.is_covered, range(len(arrays))))
    later = Workspace()
    assert not later.stacks.are_shown
    later.deleteLater()
    row.run(stacked.space)
    assert stacks(stacked) == {"h/0 … 11": 12}
    assert settings().stacks


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.0])
def test_cards_stand_out_behind_a_stack(stacked: Any, scale: float) -> None:
    """Above and on the right there is more than the ground, which there is not around a scope."""
    camera, view = stacked.view.camera, stacked.view

    def stands_out(name: str) -> bool:
        rect = view.box_rect(stacked.number(name))
        camera.zoom_to(scale)
        camera.look_at(rect.center())
        above = stacked.pixel((rect.center().x() + 11.0, rect.top() - 7.0))
        image = view.grab().toImage()
        ground = image.pixelColor(stacked.pixel((rect.center().x() + 11.0, rect.top() - 21.0)))
        return bool(image.pixelColor(above) != ground)

    assert stands_out("h/0/")
    assert not stands_out("ln_f/")


def test_the_current_step_is_seen_at_the_stack(stacked: Any) -> None:
    stacked.space.control("run_to", "h/5/AddV2")
    assert stacked.space.stop.op == "h/5/AddV2"
    assert stacked.view.stage.facts.current == stacked.number("h/0/")


def test_small_and_exported_pictures_have_the_stack_too(stacked: Any, twelve: Document) -> None:
    size = QSize(300, 120)
    small = thumbnail(twelve, size, DARK).toImage()
    assert small == painted(stacked.view.arrays, size, DARK).toImage()
    apart = each_by_itself(twelve.view.collapsed)
    asked = twelve.graph, infer(twelve.graph), twelve.request
    others = VisibleGraph.of(*asked, apart)
    scene = SceneArrays.of(others, box_placement.complete(others, {}))
    assert small != painted(scene, size, DARK).toImage()
    exported = stacked.view.as_picture(".svg").decode()
    assert "×12" in exported


def test_what_an_edit_shows_is_made_before_blocks_are_stacked(
    stacked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the places of what was not stacked would be those of a graph that is."""
    space, stage = stacked.space, stacked.view.stage
    space.stacks.toggle()
    name = [*space.document.graph.operations][-1]
    commands.rename(space, name, "other")
    space.stacks.toggle()
    wanted = stage.arrays.rects.copy()
    space.stacks.toggle()
    space.undo_stack.undo()
    monkeypatch.setattr(scene_model, "LARGE", 0)
    commands.rename(space, name, "other")
    while stage._source is None or "other" not in stage._source.graph.operations:
        stage._go_on()
    assert stage.is_behind
    space.stacks.toggle()
    assert np.array_equal(stage.arrays.rects, wanted)
