"""What is taken over from edit to edit looks as if it had been made anew."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.view import GraphView
from tests.support.deleting import delete

MOVES = 16
SIZE = 640, 400  # pixels: most of what is done here is to paint them
ROUNDED = 3  # of 255, by which a pixel differs of a line that is cut where a part is painted
LOOKS = (0.3, 1.0)  # scales


def picture(view: GraphView, scale: float) -> np.ndarray:
    """The graph's middle at a scale, as pixels."""
    view.camera.zoom_to(scale)
    view.camera.look_at(view.stage.area.center())
    return seen(view)


def seen(view: GraphView) -> np.ndarray:
    """What is seen now, as pixels, with the values that it asks for: of what was painted before,
    what nothing changed is kept."""
    view.viewport().grab()  # which asks for them
    rounds = 0
    while rounds < 3:  # what comes may ask for more
        QApplication.processEvents()
        is_idle = view.workspace.debugger.is_idle and not view.camera.zooming
        rounds = rounds + 1 if is_idle else 0
    image = view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.array(image.constBits()).reshape(image.height(), -1)


def assert_alike(one: np.ndarray, other: np.ndarray) -> None:
    """Pictures in which nobody could tell anything apart."""
    assert np.abs(one.astype(np.int16) - other).max() <= ROUNDED


def assert_as_new(canvas: Any) -> None:
    """Against a canvas that is opened on the workspace as it stands now."""
    view, fresh = canvas.view, GraphView(canvas.space)
    fresh.resize(view.size())
    fresh.show()
    fresh.stage._laid = dict(view.stage._laid)  # where layout put what nobody moved
    fresh.stage.rebuild()
    for own in (view, fresh):
        own.minimap.hide()
        own.legend.hide()
    try:
        for name in ("stopped_links", "dead_links", "untaken_links"):
            mine, other = (getattr(each.stage.facts, name) for each in (view, fresh))
            assert np.array_equal(mine, other), name
        assert view.stage.facts.badges == fresh.stage.facts.badges
        assert view.stage.facts.unfinished == fresh.stage.facts.unfinished
        assert_same_scene(view.arrays, fresh.arrays)
        fresh.camera.zoom_to(view.camera.scale)
        for bar in ("horizontalScrollBar", "verticalScrollBar"):
            getattr(fresh, bar)().setValue(getattr(view, bar)().value())
        assert_alike(seen(view), seen(fresh))
        for scale in LOOKS:
            assert_alike(picture(view, scale), picture(fresh, scale))
    finally:
        delete(fresh)


def assert_same_scene(found: SceneArrays, anew: SceneArrays) -> None:
    """Boxes, links, where they are, the way of the gradient, and frames."""
    for name in ("boxes", "links", "on_path", "surroundings"):
        assert getattr(found.visible, name) == getattr(anew.visible, name), name
    assert np.array_equal(found.rects, anew.rects)
    for name in ("ports", "curves", "counts", "bounds"):
        assert np.array_equal(getattr(found.routes, name), getattr(anew.routes, name)), name
    assert [(f.title, f.rect) for f in found.frames] == [(f.title, f.rect) for f in anew.frames]
    assert found.extent == anew.extent


def moves_of(canvas: Any, random: Random) -> Any:
    """One thing that a user does, at random."""
    space, graph = canvas.space, canvas.space.document.graph
    name = random.choice([*graph.operations])
    wires = [Edge(op.name, i) for op in graph for i, ref in enumerate(op.inputs) if ref is not None]
    if not wires:
        return space.undo_stack.undo
    wire = random.choice(wires)
    return random.choice(
        [
            lambda: commands.toggle_stop(space, wire),
            lambda: commands.set_override(space, Override("Identity", name, OverrideKind.OP)),
            lambda: commands.set_attr(space, name, "_note", f"{random.random()}"),
            lambda: commands.rename(space, name, f"named{random.randrange(99)}"),
            lambda: commands.disconnect(space, wire),
            lambda: commands.toggle_breakpoint(space, name),
            lambda: commands.remove_nodes(space, [name]),
            lambda: space.select([name]),
            lambda: canvas.view.stage.move(
                [canvas.view.arrays.visible.box_of[name]], 8.0 * random.randrange(-9, 9), 16.0
            ),
            *[space.undo_stack.undo] * 4,
            space.undo_stack.redo,
            lambda: canvas.step(random.randrange(1, 9)),
        ]
    )


@pytest.mark.parametrize(("name", "seed"), [("tutorial", 1), ("name_scopes", 2), ("while_loop", 3)])
@pytest.mark.slow
def test_after_any_edits_it_is_the_picture_of_a_new_canvas(
    canvas: Any, name: str, seed: int
) -> None:
    canvas.view.resize(*SIZE)
    canvas.open(name)
    random = Random(seed)
    for number in range(MOVES):
        try:
            moves_of(canvas, random)()
        except GradstepError:
            continue  # refused
        if number % 2:
            canvas.view.viewport().grab()  # before the engine has heard of it
        canvas.space.debugger.flush()
        seen(canvas.view)
        if number % 8 == 7:
            assert_as_new(canvas)


@pytest.mark.slow
def test_of_what_an_edit_paints_it_is_known_what_it_says(canvas: Any) -> None:
    """What the engine says of it later is held against that."""
    canvas.view.resize(*SIZE)
    canvas.open("tutorial")
    canvas.step(4)
    picture(canvas.view, 1.0)
    seen(canvas.view)
    canvas.view.stage.facts_changed.disconnect(canvas.view._show_facts)  # by an edit alone
    commands.rename(canvas.space, "e", "other")
    canvas.view.viewport().grab()
    layers = canvas.view.layers
    assert layers._said == layers._say(layers._facts.area, layers._facts.scale)


def test_of_what_was_just_renamed_it_is_not_said_that_no_gradient_comes(canvas: Any) -> None:
    """The engine has not heard of it yet."""
    canvas.open("tutorial")
    space = canvas.space
    space.control("continue_")
    assert space.gradient("a:0").state == "known"
    commands.rename(space, "a", "product")
    facts = canvas.view.stage.facts
    assert space.gradient("product:0") is None
    assert not facts.dead_links.any()
    box = canvas.view.arrays.visible.number["product"]
    assert facts.reading(box, True).text == "[  0.485 -0.485 ] +…"  # what came over its wire
    space.debugger.flush()
    assert space.gradient("product:0").state == "known"
    assert not canvas.view.stage.facts.dead_links.any()


def test_an_edit_undone_leaves_the_picture_as_it_was(canvas: Any) -> None:
    canvas.open("tutorial")
    before = [picture(canvas.view, scale) for scale in LOOKS]
    space = canvas.space
    for edit in (
        lambda: commands.toggle_stop(space, Edge("a", 1)),
        lambda: commands.rename(space, "e", "other"),
        lambda: commands.disconnect(space, Edge("a", 1)),
        lambda: commands.set_override(space, Override("Identity", "e", OverrideKind.OP)),
    ):
        edit()
        space.debugger.flush()
        assert any(
            (picture(canvas.view, s) != was).any() for s, was in zip(LOOKS, before, strict=True)
        )
        space.undo_stack.undo()
        space.debugger.flush()
        space.select([])
        for scale, was in zip(LOOKS, before, strict=True):
            assert_alike(picture(canvas.view, scale), was)
